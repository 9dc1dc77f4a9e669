import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { createMachine } from '../kit.ts';

const SVC = fileURLToPath(new URL('../../../src/cli/svc.cjs', import.meta.url));
/** Root may read everything, so that it runs svc as another user. */
const NOBODY = process.geteuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
/** A checkout in a private folder is for its owner alone. */
const runs = spawnSync(process.execPath, [SVC, '--version'], { cwd: '/', ...NOBODY }).status === 0;

it.skipIf(!runs).each([
  ['status', 3],
  ['ps', 3],
  ['daemon status', 3],
  ['daemon start', 3],
  ['daemon stop', 3],
  ['doctor', 1],
])('svc %s names the data folder that its user may not read, and its permission', (words, code) => {
  const machine = createMachine();
  onTestFinished(() => {
    chmodSync(machine.data_dir, 0o700);
    machine.remove();
  });
  chmodSync(machine.folder, 0o755);
  chmodSync(machine.config_dir, 0o755);
  chmodSync(machine.data_dir, 0o000);
  const { status, stdout, stderr } = spawnSync(process.execPath, [SVC, ...words.split(' ')], {
    ...{ env: machine.env, cwd: '/', encoding: 'utf8' },
    ...NOBODY,
  });
  const owner = process.geteuid?.();
  expect(stdout + stderr).toContain(
    `${machine.data_dir} (mode 0000, of uid ${owner}) may not be read by this user`,
  );
  expect(stdout + stderr).not.toContain('svc daemon start');
  expect(status).toBe(code);
});
