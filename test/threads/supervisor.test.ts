import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { createDeferred } from '../../src/base/deferred.ts';
import { createLogger, silentLogger } from '../../src/base/logger.ts';
import type { ChildSpec, Life } from '../../src/threads/child.ts';
import { createSupervisor } from '../../src/threads/supervisor.ts';

/** A component without a thread, whose every turn is taken by the test. */
class ScriptedChild implements ChildSpec {
  readonly name: string;
  readonly essential: boolean;
  readonly start_limit_ms = 5_000;
  readonly #trace: string[];
  lives = 0;
  mute = false;
  starved = false;
  becomeReady: () => void = () => undefined;
  die: (reason: Error) => void = () => undefined;
  finishStop: () => void = () => undefined;

  constructor(name: string, trace: string[], essential = false) {
    this.name = name;
    this.#trace = trace;
    this.essential = essential;
  }

  launch(heard: () => void): Life {
    this.lives += 1;
    this.#trace.push(`launch ${this.name}`);
    const ready = createDeferred<void>();
    const ended = createDeferred<Error>();
    const stopped = createDeferred<void>();
    this.becomeReady = () => ready.resolve();
    this.die = (reason) => ended.resolve(reason);
    this.finishStop = () => stopped.resolve();
    return {
      ready: ready.promise,
      ended: ended.promise,
      begin: () => {
        this.#trace.push(`begin ${this.name}`);
      },
      ask: () => {
        if (!this.mute) heard();
      },
      // It sleeps all the time.
      work: () => ({ ran_ms: 0, waited_ms: 0, is_ready: this.starved }),
      stop: async () => {
        this.#trace.push(`stop ${this.name}`);
        await stopped.promise;
        this.#trace.push(`stopped ${this.name}`);
        ended.resolve(new Error('stopped'));
      },
      kill: (reason) => {
        this.#trace.push(`kill ${this.name}`);
        ended.resolve(reason);
      },
    };
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function setUp(names: (string | string[])[], essential: string[] = [], logger = silentLogger) {
  const clock = new FakeClock();
  const trace: string[] = [];
  const failures: string[] = [];
  const steps = names.map((step) =>
    [step].flat().map((name) => new ScriptedChild(name, trace, essential.includes(name))),
  );
  const children = steps.flat();
  const supervisor = createSupervisor({
    clock,
    logger,
    restart: { intensity: 2, window_ms: 60_000, backoff: { first: 100, most: 1_000 } },
    heartbeat: { interval_ms: 1_000, timeout_ms: 3_000 },
    stop_timeout_ms: 2_000,
    children: steps,
    onEssentialFailed: (name, lastError) => failures.push(`${name}: ${lastError}`),
  });
  const states = (): string[] => supervisor.views().map((view) => view.state);
  return { clock, trace, failures, children, supervisor, states };
}

describe('the supervisor', () => {
  it('loads all at once, lets each begin when the previous one is ready, and stops them in reverse order', async () => {
    const { trace, children, supervisor, states } = setUp(['a', 'b', 'c']);
    const started = supervisor.start();
    for (const child of children) {
      await turn();
      trace.push(`ready ${child.name}`);
      child.becomeReady();
    }
    await started;
    expect(states()).toEqual(['running', 'running', 'running']);
    const stopped = supervisor.stop();
    for (const child of children.toReversed()) {
      await turn();
      child.finishStop();
    }
    await stopped;
    expect(trace).toEqual([
      'launch a',
      'launch b',
      'launch c',
      'begin a',
      'ready a',
      'begin b',
      'ready b',
      'begin c',
      'ready c',
      'stop c',
      'stopped c',
      'stop b',
      'stopped b',
      'stop a',
      'stopped a',
    ]);
    expect(states()).toEqual(['stopped', 'stopped', 'stopped']);
  });

  it('lets those of one step begin together, and the next step when all of them are ready or have failed', async () => {
    const { clock, trace, children, supervisor, states } = setUp(['a', ['b', 'c'], 'd']);
    const started = supervisor.start();
    const [a, b, c, d] = children as [ScriptedChild, ScriptedChild, ScriptedChild, ScriptedChild];
    a.becomeReady();
    await turn();
    expect(trace.filter((what) => what.startsWith('begin'))).toEqual(['begin a', 'begin b', 'begin c']);
    c.becomeReady();
    for (const wait of [100, 200]) {
      await turn();
      b.die(new Error('it died'));
      await turn();
      clock.advance(wait);
    }
    await turn();
    expect(trace).not.toContain('begin d');
    b.die(new Error('for good'));
    await turn();
    d.becomeReady();
    await started;
    expect(states()).toEqual(['running', 'failed', 'running', 'running']);
    expect(supervisor.views().map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('restarts with backoff, then gives up a non-essential component and continues', async () => {
    const { clock, failures, children, supervisor, states } = setUp(['a', 'b']);
    const started = supervisor.start();
    const [a, b] = children as [ScriptedChild, ScriptedChild];
    for (const wait of [100, 200]) {
      await turn();
      a.die(new Error(`died before ${wait}`));
      await turn();
      expect(supervisor.views()[0]).toMatchObject({ state: 'restarting', last_error: `died before ${wait}` });
      const lives = a.lives;
      clock.advance(wait - 1);
      expect(a.lives).toBe(lives);
      clock.advance(1);
      expect(a.lives).toBe(lives + 1);
    }
    a.die(new Error('for good'));
    await turn();
    b.becomeReady();
    await started;
    expect(states()).toEqual(['failed', 'running']);
    expect(supervisor.views()[0]).toMatchObject({ restarts: 2, last_error: 'for good' });
    expect(failures).toEqual([]);
  });

  it('raises the log level with each death in a row', async () => {
    const lines: { level: number; msg: string }[] = [];
    const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
    const logger = createLogger({ component: 'main', level: 'info', destination });
    const { clock, children, supervisor } = setUp(['a'], ['a'], logger);
    void supervisor.start();
    for (let death = 0; death < 3; death += 1) {
      await turn();
      children[0]!.die(new Error('x'));
      await turn();
      clock.advance(1_000);
    }
    expect(lines.map((line) => line.level)).toEqual([30, 40, 60]);
  });

  it('treats a component that cannot be launched like one that ended', async () => {
    const { supervisor, children, clock } = setUp(['a']);
    children[0]!.launch = () => {
      throw new RangeError('no such limit');
    };
    const started = supervisor.start();
    for (let tries = 0; tries < 3; tries += 1) clock.advance(1_000);
    await started;
    expect(supervisor.views()[0]).toMatchObject({
      state: 'failed',
      restarts: 2,
      last_error: 'no such limit',
    });
  });

  it('does not count deaths outside the window', async () => {
    const { clock, children, supervisor } = setUp(['a']);
    void supervisor.start();
    for (let death = 1; death <= 6; death += 1) {
      children[0]!.becomeReady();
      await turn();
      children[0]!.die(new Error('again'));
      await turn();
      clock.advance(100);
      await turn();
      children[0]!.becomeReady();
      await turn();
      expect(supervisor.views()[0]).toMatchObject({ state: 'running', restarts: death });
      clock.advance(60_000);
    }
  });

  it('reports an essential component that it gives up', async () => {
    const { clock, failures, children, supervisor } = setUp(['poller'], ['poller']);
    void supervisor.start();
    for (let death = 0; death < 3; death += 1) {
      await turn();
      children[0]!.die(new Error('no tmux'));
      await turn();
      clock.advance(1_000);
    }
    expect(failures).toEqual(['poller: no tmux']);
    expect(supervisor.views()[0]!.state).toBe('failed');
  });

  it('kills a component that answers nothing, while it starts and later, though it had its time', async () => {
    const { clock, trace, children, supervisor } = setUp(['a']);
    children[0]!.mute = true;
    void supervisor.start();
    await turn();
    clock.advance(6_000);
    await turn();
    expect(supervisor.views()[0]!.last_error).toMatch(/did not become ready although it had 5000 ms/);
    clock.advance(100);
    children[0]!.mute = false;
    children[0]!.becomeReady();
    await turn();
    clock.advance(30_000);
    expect(trace.filter((step) => step === 'kill a')).toHaveLength(1);
    children[0]!.mute = true;
    clock.advance(4_000);
    await turn();
    expect(supervisor.views()[0]).toMatchObject({ state: 'restarting' });
    expect(supervisor.views()[0]!.last_error).toMatch(/did not answer a heartbeat although it had 3000 ms/);
  });

  it('leaves a component alone that answers nothing because others have the processor', async () => {
    const { clock, trace, children, supervisor, states } = setUp(['a']);
    Object.assign(children[0]!, { mute: true, starved: true });
    const started = supervisor.start();
    clock.advance(3_600_000);
    children[0]!.becomeReady();
    await started;
    clock.advance(3_600_000);
    expect([trace, states()]).toEqual([['launch a', 'begin a'], ['running']]);
  });

  it('lets a component start for as long as it answers', async () => {
    const { clock, trace, children, supervisor } = setUp(['a']);
    const started = supervisor.start();
    clock.advance(3_600_000);
    expect(trace).not.toContain('kill a');
    children[0]!.becomeReady();
    await started;
  });

  it('reports every change of its views, until the listener unsubscribes', async () => {
    const { clock, children, supervisor } = setUp(['a']);
    const seen: string[] = [];
    const leave = supervisor.onViewsChanged((views) => seen.push(views[0]!.state));
    void supervisor.start();
    children[0]!.becomeReady();
    await turn();
    children[0]!.die(new Error('x'));
    await turn();
    clock.advance(100);
    children[0]!.becomeReady();
    await turn();
    expect(seen).toEqual(['running', 'restarting', 'running']);
    leave();
    children[0]!.die(new Error('x'));
    await turn();
    expect(seen).toHaveLength(3);
  });

  it('loads a component again that dies before it may begin, and gives it its whole time once it begins', async () => {
    const { clock, trace, children, supervisor, states } = setUp(['a', 'b']);
    const started = supervisor.start();
    const [a, b] = children as [ScriptedChild, ScriptedChild];
    b.die(new Error('it could not be loaded'));
    await turn();
    clock.advance(100);
    expect(b.lives).toBe(2);
    expect(trace).not.toContain('begin b');
    clock.advance(4_800);
    a.becomeReady();
    await turn();
    expect(trace).toContain('begin b');
    clock.advance(4_900);
    expect(trace).not.toContain('kill b');
    b.becomeReady();
    await started;
    expect(states()).toEqual(['running', 'running']);
  });

  it('stops while a component waits for its restart, and starts nothing afterwards', async () => {
    const { clock, trace, children, supervisor, states } = setUp(['a', 'b']);
    const started = supervisor.start();
    children[0]!.die(new Error('x'));
    children[1]!.finishStop();
    await turn();
    await supervisor.stop();
    await started;
    clock.advance(60_000);
    expect(children.map((child) => child.lives)).toEqual([1, 1]);
    expect(trace).not.toContain('begin b');
    expect(states()).toEqual(['stopped', 'stopped']);
  });
});
