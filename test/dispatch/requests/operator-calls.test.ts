import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../src/base/clock.ts';
import { readSettings } from '../../../src/config/settings.ts';
import { OperatorCalls, type OperatorCallsOptions } from '../../../src/dispatch/requests/operator-calls.ts';
import { remoteDisk } from '../../kit/answering-disks.ts';

it('[RPL-19] names only the operator file whose disk does not answer', async () => {
  const folder = mkdtempSync(`${tmpdir()}/svc-operator-`);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const clock = new FakeClock();
  const options: Partial<OperatorCallsOptions> = {
    settings: readSettings({ SVC_CONFIG_DIR: folder }) as OperatorCallsOptions['settings'],
    surroundings: { world: { cli: null } } as OperatorCallsOptions['surroundings'],
    disks: {
      ...remoteDisk(() => true),
      check: (path) => (path.endsWith('/stores.json') ? new Promise(() => {}) : turn({ kind: 'missing' })),
    },
    clock,
  };
  const errors = new OperatorCalls(options as OperatorCallsOptions).errors();
  await turn();
  await turn();
  clock.advance(2_000);
  expect((await errors).map(({ file }) => file)).toEqual(['stores']);
});
