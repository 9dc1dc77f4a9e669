import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appMessageStage, giveAppMessage } from '../../../src/dispatch/requests/app-message.ts';
import { messageTarget } from '../../../src/dispatch/requests/message-target.ts';
import { AppServerRefusal } from '../../../src/harness/app-server/connection.ts';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';

let world: FakeWorld;
let daemon: Daemon;
let thread_id: string;

beforeEach(async () => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
  world.fiber('talk', { surface: 'app', agent: 'learning' });
  await world.run(daemon.dispatcher.dispatch({ fiber_id: 'talk' }));
  thread_id = world.app.only().thread_id;
  await round();
});
afterEach(() => world.dispose());

async function round(): Promise<void> {
  await world.run(daemon.round());
  await world.run(daemon.dispatcher.watchSurfaces());
}

function give(message_id: string, text = 'Which branch?') {
  return world.run(giveAppMessage(daemon.world, daemon.memory.runs, { thread_id, message_id, text }));
}

function stage(message_id: string) {
  return world.run(appMessageStage(daemon.world, { thread_id, message_id }));
}

function target() {
  const query = { harness: 'codex' as const, native_id: thread_id };
  return world.run(messageTarget(daemon.world, daemon.memory, query));
}

function timesGiven(message_id: string): number {
  return world.app.only().messages.filter(({ id }) => id === message_id).length;
}

describe('a message for an app conversation', () => {
  it.each(['waiting', 'working', 'attention'] as const)('is given while it is %s', async (phase) => {
    world.app.phase(thread_id, phase);
    await round();
    expect(await target()).toMatchObject({ kind: 'running', mux: null, app: 'ready' });
    expect(await stage('m-1')).toBeNull();
    expect(await give('m-1')).toEqual({ kind: 'given' });
    expect(world.app.only().messages.at(-1)).toEqual({ id: 'm-1', text: 'Which branch?' });
    expect(await stage('m-1')).toBe('submitted');
  });

  it('loads a stored conversation first, with the settings of its run', async () => {
    world.app.restart();
    expect(await give('m-1')).toEqual({ kind: 'given' });
    expect(world.app.only()).toMatchObject({ loaded: true, settings: { project_dir: expect.any(String) } });
    expect(world.app.asked.slice(-3)).toEqual(['look', 'load', 'send']);
  });

  it('does not load one that is loaded', async () => {
    await give('m-1');
    expect(world.app.asked.slice(-2)).toEqual(['look', 'send']);
  });

  it('is not given while the app server does not answer', async () => {
    world.app.up = false;
    expect(await give('m-1')).toMatchObject({ kind: 'not_given' });
    await round();
    expect(await target()).toMatchObject({ app: 'unreachable' });
    world.app.up = true;
    await round();
    expect(await target()).toMatchObject({ app: 'ready' });
    expect(timesGiven('m-1')).toBe(0);
  });

  it.each([
    ['down', 'not_given', 0],
    ['silent_and_undone', 'unknown', 0],
    ['silent_but_done', 'unknown', 1],
  ] as const)('with a server that is %s at the request is %s', async (fault, kind, times) => {
    world.app.faults.send = fault;
    expect(await give('m-1')).toMatchObject({ kind });
    expect(timesGiven('m-1')).toBe(times);
    expect(await stage('m-1')).toBe(times === 1 ? 'submitted' : null);
  });

  it('is refused where the server refuses it', async () => {
    const app = daemon.world.app!;
    app.send = () => Promise.reject(new AppServerRefusal('turn/start', 'no such model'));
    expect(await give('m-1')).toEqual({ kind: 'refused', detail: 'no such model' });
  });

  it('[MSG-5] goes nowhere where the server has no such conversation, or no worker is in it', async () => {
    world.app.forget(thread_id);
    expect(await give('m-1')).toEqual({ kind: 'gone' });
    await round();
    expect(await target()).toMatchObject({ app: 'missing' });
    daemon.memory.runs.release(daemon.memory.runs.all()[0]!);
    expect(await give('m-1')).toEqual({ kind: 'gone' });
  });
});
