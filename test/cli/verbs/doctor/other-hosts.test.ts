import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { findDaemon } from '../../../../src/cli/daemon-client/daemon-file.ts';
import type { DoctorContext } from '../../../../src/cli/verbs/doctor/check.ts';
import { checkOtherHosts } from '../../../../src/cli/verbs/doctor/other-hosts.ts';
import { readSettings } from '../../../../src/config/settings.ts';
import { createMachine, type Machine, serveDaemon } from '../../kit.ts';

let machine: Machine;
beforeEach(() => {
  machine = createMachine();
});
afterEach(() => machine.remove());

const remote = (name: string, clock_ahead_ms: number | null) => ({
  ...{ name, display: null, source: 'file', address: '127.0.0.1:4001', ssh: null },
  reach: { state: 'answers', since: 1, last_ok_at: 1, error: null },
  ...{ build: null, host_class: null, clock_ahead_ms, workers: null, feed: null },
});

async function examine() {
  const daemon = await findDaemon(readSettings(machine.env));
  return checkOtherHosts({ daemon, clock: systemClock } as DoctorContext);
}

it('[REC-7] svc doctor tells of a remote whose clock differs from the one here', async () => {
  const remotes = [remote('mesa', -7_200_000), remote('quarry', 3_000), remote('tarn', null)];
  await serveDaemon(machine, { 'GET /fleet': { body: { host: 'harbor', remotes } } });
  expect(await examine()).toEqual([
    {
      name: 'clock of mesa',
      level: 'warn',
      what: 'it is 2 h behind the one here, so that its times look wrong',
      mend: 'set the clock that is wrong, or have both set by NTP',
    },
  ]);
});

it('[REC-7] svc doctor warns of each remote that does not answer, and how to find out why', async () => {
  const silent = (name: string, code: string, message: string) => ({
    ...remote(name, null),
    reach: { state: 'no_answer', since: 1, last_ok_at: null, error: { code, message } },
  });
  const remotes = [
    silent('mesa', 'remote_unreachable', 'mesa does not answer at 127.0.0.1:4001: refused.'),
    remote('quarry', 0),
    silent('tarn', 'build_changed', 'The daemon of tarn is of build "x".'),
  ];
  await serveDaemon(machine, { 'GET /fleet': { body: { host: 'harbor', remotes } } });
  expect(await examine()).toEqual([
    {
      ...{ name: 'host mesa', level: 'warn', what: 'mesa does not answer at 127.0.0.1:4001' },
      mend: 'see why: svc remotes check mesa',
    },
    {
      ...{ name: 'host tarn', level: 'warn', what: 'The daemon of tarn is of build "x"' },
      mend: 'see why: svc remotes check tarn',
    },
  ]);
});

it('svc doctor says nothing of other hosts without a daemon that answers', async () => {
  expect(await examine()).toEqual([]);
  await serveDaemon(machine, {});
  expect(await examine()).toEqual([]);
});
