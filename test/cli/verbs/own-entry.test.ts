import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { DoctorContext } from '../../../src/cli/verbs/doctor/check.ts';
import { checkOperatorFiles } from '../../../src/cli/verbs/doctor/operator-files.ts';
import { readSettings } from '../../../src/config/settings.ts';
import { stateAnswer, versionAnswer } from '../answers.ts';
import { createMachine, type Machine, serveDaemon } from '../kit.ts';

function machineNamed(host: string): Machine {
  const machine = createMachine();
  onTestFinished(() => machine.remove());
  machine.env.SVC_HOST = host;
  const remotes = [{ name: 'host-a', port: 4001 }];
  writeFileSync(join(machine.config_dir, 'remotes.json'), JSON.stringify({ version: 1, remotes }));
  return machine;
}

it('svc doctor warns of an entry of remotes.json with the name of this host', async () => {
  const examine = async (host: string) =>
    checkOperatorFiles({ settings: readSettings(machineNamed(host).env) } as DoctorContext);
  expect(await examine('host-b')).toMatchObject([{ name: 'remotes.json', level: 'ok' }]);
  expect(await examine('host-a')).toMatchObject([
    {
      ...{ name: 'remotes.json', level: 'warn', what: expect.stringMatching(/has the name of this host/) },
      mend: expect.stringMatching(/svc remotes rm host-a$/),
    },
  ]);
});

it('[RPL-9] svc fleet tells of an entry of remotes.json with the name of this host', async () => {
  const machine = machineNamed('host-a');
  await serveDaemon(machine, {
    'GET /fleet': { body: { host: 'host-a', remotes: [] } },
    'GET /version': { body: { ...versionAnswer(), host: 'host-a' } },
    'GET /state': { body: stateAnswer() },
  });
  expect(await machine.svc('fleet')).toMatchObject({
    out: expect.stringMatching(
      /\nThe entry host-a of .* has the name of this host .* svc remotes rm host-a\n$/,
    ),
  });
});
