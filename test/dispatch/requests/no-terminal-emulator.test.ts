import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startByTerminal } from '../../../src/mux/start-by-terminal.ts';
import { createTmux } from '../../../src/mux/tmux.ts';
import { createRunner } from '../../../src/platform/process.ts';
import { launchInKitty } from '../../../src/platform/terminal-kitty.ts';
import { STORE } from '../world/fake-documents.ts';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';

const MINUTE = 60_000;
let folder: string;
let world: FakeWorld;
let daemon: Daemon;
let mux: ReturnType<typeof createTmux>;
let starts: number;

/** A Mac on which tmux has no server and no kitty listens. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-mac-'));
  world = new FakeWorld();
  daemon = world.boot({ released: true });
  starts = 0;
  const parts = { tmux: 'tmux', env: process.env, runner: createRunner(), deadline_ms: 5_000 };
  mux = createTmux({
    ...parts,
    socket: join(folder, 's'),
    platform: 'darwin',
    clock: daemon.world.clock,
    logger: daemon.world.logger,
    control: 'never',
    startServer: () => {
      starts += 1;
      return startByTerminal({
        ...parts,
        openTerminal: (launch) => launchInKitty(launch, { named: null, env: {}, folder, uid: null }),
      });
    },
  });
  world.machine.server = 'down';
  daemon.world.mux.create = (spec) => mux.create(spec);
});
afterEach(async () => {
  await mux.stop();
  world.dispose();
  rmSync(folder, { recursive: true, force: true });
});

/** Lets fake time pass until the real tmux has answered too. */
async function whileReal<T>(work: Promise<T>): Promise<T> {
  let done = false;
  const end = work.finally(() => {
    done = true;
  });
  while (!done) {
    world.clock.advance(1);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return end;
}

const REFUSED = {
  reason: 'tmux_server_unavailable',
  message: expect.stringMatching(/tmux new-session -d -s svc-anchor$/),
};

it('[MUX-2] [DSP-5] a Mac without a reachable terminal emulator blocks the row and asks again once per cooldown', async () => {
  world.fiber('a');
  for (let turn = 0; turn < 4; turn += 1) {
    await whileReal(daemon.round());
    expect(daemon.row('a')).toMatchObject({ status: 'active', blocked: { ...REFUSED, attempts: 1 } });
    expect(daemon.state().blocked).toMatchObject([{ fiber_id: 'a', ...REFUSED }]);
    world.clock.advance(MINUTE);
  }
  expect(starts).toBe(1);
  world.clock.advance(2 * MINUTE);
  await whileReal(daemon.round());
  expect([starts, daemon.row('a')?.blocked?.attempts]).toEqual([2, 2]);
});

it('[MUX-2] [ERR-17] it refuses a dispatch and a capture with the code and what a person can do', async () => {
  world.fiber('a', {}, { status: 'open' });
  expect(await whileReal(daemon.dispatcher.dispatch({ fiber_id: 'a' }))).toMatchObject({
    dispatched: false,
    ...REFUSED,
  });
  const request = { prompt: 'x', project_dir: '/srv/dev', claim: { url: 'http://x', socket: null } };
  expect(
    await whileReal(daemon.dispatcher.surfaces.cli.captures.capture({ ...request, store: STORE })),
  ).toMatchObject({
    captured: false,
    ...REFUSED,
  });
  expect(daemon.state().captures).toEqual([]);
  expect(daemon.state().blocked).toMatchObject([{ fiber_id: 'a', ...REFUSED }]);
});
