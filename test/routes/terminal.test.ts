import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { FakeClock } from '../../src/base/clock.ts';
import { CodedError } from '../../src/base/errors.ts';
import { type TerminalMessage, terminalMessageSchema } from '../../src/contract/http/terminal.ts';
import type { WorkerScreen, WorkerScreenMark } from '../../src/contract/threads/worker-screen.ts';
import type { Callers } from '../../src/routes/callers.ts';
import { terminalRows } from '../../src/routes/terminal.ts';
import { ask } from '../http/raw-exchange.ts';
import { until } from '../kit/until.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

const SESSION = 'work-01K00000000000000000000000-svc';

type Asked = { mux_session: string; history: number; since: WorkerScreenMark | null };
type Told = { value: WorkerScreen; bulk: Uint8Array | null };

function read(lines: readonly string[], since: Partial<WorkerScreenMark> = {}): Told {
  const mark = { pane: { id: '%1', pid: 7 }, columns: 80, rows: 2, history: 0, read_at_s: 1, ...since };
  const text = lines.map((line) => JSON.stringify(line === '' ? [] : [line])).join('\n');
  return { value: { kind: 'read', mark, first: 0, cheap: true }, bulk: Buffer.from(text) };
}

const told = (value: WorkerScreen): Told => ({ value, bulk: null });

describe('GET /terminal', () => {
  let served: ServedRoutes;
  const clients: WebSocket[] = [];
  beforeEach(async () => {
    served = await serveRoutes();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.terminate();
    await served.stop();
  });

  function connect(query = `?session=${SESSION}`, options = {}) {
    const client = new WebSocket(`ws://127.0.0.1:${served.port}/api/v1/terminal${query}`, options);
    clients.push(client);
    const messages: TerminalMessage[] = [];
    client.on('message', (data, binary) => {
      expect(binary).toBe(false);
      messages.push(terminalMessageSchema.parse(JSON.parse(String(data))));
    });
    return { client, messages };
  }

  it('tells the screen, what changes in it, and the end with its reason', async () => {
    let now: Told = read(['a', 'b']);
    served.callers.poller.answers.worker_screen = (asked: Asked) =>
      asked.since === null || JSON.stringify(now.value).includes('"rows":3')
        ? now
        : told({ kind: 'same', cheap: true });
    const { client, messages } = connect();
    await until('the screen', () => messages.length === 1);
    expect(messages).toEqual([
      {
        ...{ state: 'screen', first: 0, top: 0, end: 2, columns: 80, stale: null },
        lines: [
          { n: 0, runs: ['a'] },
          { n: 1, runs: ['b'] },
        ],
      },
    ]);
    now = read(['a', 'c', 'd'], { rows: 3 });
    await until('the change', () => messages.length === 2);
    expect(messages[1]).toMatchObject({
      end: 3,
      lines: [
        { n: 1, runs: ['c'] },
        { n: 2, runs: ['d'] },
      ],
    });
    served.callers.poller.answers.worker_screen = () => told({ kind: 'no_worker' });
    const [code, reason] = await once(client, 'close');
    expect([code, String(reason)]).toEqual([4410, 'The worker has ended.']);
    expect(messages.at(-1)).toEqual({ state: 'ended', reason: 'The worker has ended.' });
  });

  it('refuses a session that is no worker of this host, and says so', async () => {
    served.callers.poller.answers.worker_screen = () => told({ kind: 'no_worker' });
    const { client, messages } = connect();
    const [code] = await once(client, 'close');
    expect(code).toBe(4404);
    expect(messages).toEqual([{ state: 'refused', reason: expect.stringContaining(SESSION) }]);
  });

  it('says why the screen may be out of date while the poller is down', async () => {
    served.callers.poller.up = false;
    const { messages } = connect();
    await until('the reason', () => messages.length === 1);
    expect(messages[0]).toMatchObject({
      state: 'screen',
      end: 0,
      stale: expect.stringContaining('starting again'),
    });
    served.callers.poller.answers.worker_screen = () => read(['a', 'b']);
    served.callers.poller.up = true;
    await until('the screen', () => messages.length === 2);
    expect(messages[1]).toMatchObject({ stale: null, end: 2 });
  });

  it('is a WebSocket alone, names a session, and takes no message', async () => {
    served.callers.poller.answers.worker_screen = () => read(['a', 'b']);
    const plain = await ask({ port: served.port }, 'GET', `/api/v1/terminal?session=${SESSION}`);
    expect([plain.status, JSON.parse(plain.body).error]).toEqual([426, 'upgrade_required']);
    for (const query of ['', '?session=', `?session=${'x'.repeat(241)}`]) {
      const [error] = await once(connect(query).client, 'error');
      expect(String(error)).toContain('400');
    }
    const { client } = connect();
    await once(client, 'open');
    client.send('{}');
    expect((await once(client, 'close'))[0]).toBe(1008);
  });

  it('[AUT-3] is refused to a page of another origin', async () => {
    const { client } = connect(undefined, { origin: 'http://evil.example' });
    expect(String((await once(client, 'error'))[0])).toContain('403');
  });
});

/** The row with viewers of a test, and a poller that answers what it is told. */
function row() {
  const clock = new FakeClock();
  const asked: Asked[] = [];
  let answer: () => Promise<Told> = async () => read(['a', 'b']);
  const poller = {
    async exchange(_name: string, input: Asked) {
      asked.push(input);
      return answer();
    },
  };
  const [terminal] = terminalRows({ poller } as unknown as Callers, { clock });
  const join = (session = SESSION) => {
    const sent: string[] = [];
    const closed: number[] = [];
    const socket = {
      unsent: 0,
      send: (message: Uint8Array) => void sent.push(String(message)),
      close: (code: number) => void closed.push(code),
    };
    const handler = terminal!.socket!.open(socket, { query: { session } } as never);
    return { socket, handler, sent, closed, messages: () => sent.map((text) => JSON.parse(text)) };
  };
  /** Lets the question that is under way be answered, then the next one be asked. */
  const pass = async (ms: number) => {
    clock.advance(ms);
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  };
  const become = (next: () => Promise<Told>) => {
    answer = next;
  };
  return { asked, join, pass, become };
}

describe('the screen of a worker', () => {
  it('is asked for once for all who look, and by nobody when nobody looks', async () => {
    const { asked, join, pass } = row();
    const [first, second] = [join(), join()];
    await pass(0);
    expect(asked).toHaveLength(1);
    for (let time = 0; time < 4; time += 1) await pass(250);
    expect(asked).toHaveLength(5);
    expect(first.messages()).toEqual(second.messages());
    expect(first.sent).toHaveLength(1);
    first.handler.closed?.();
    await pass(250);
    expect(asked).toHaveLength(6);
    second.handler.closed?.();
    await pass(10_000);
    expect(asked).toHaveLength(6);
    const third = join();
    await pass(0);
    expect(third.messages()).toEqual(second.messages());
  });

  it('is asked for with little history once it is known, and with all of it after a gap', async () => {
    const { asked, join, pass, become } = row();
    join();
    await pass(0);
    const [first] = asked;
    expect(first).toEqual({ mux_session: SESSION, history: 500, since: null });
    const far = read(['x', 'y'], { history: 5_000 });
    become(async () => ({ ...far, value: { ...far.value, first: 5_000 } as WorkerScreen }));
    await pass(250);
    expect(asked[1]).toMatchObject({ history: 60, since: { history: 0 } });
    await pass(0);
    expect(asked[2]).toMatchObject({ history: 500, since: null });
  });

  it('is told to a slow reader as it is when it has read, without what came between', async () => {
    const { join, pass, become } = row();
    const [slow, other] = [join(), join()];
    await pass(0);
    slow.socket.unsent = 100;
    for (const text of ['c', 'd', 'e']) {
      become(async () => read(['a', text]));
      await pass(250);
    }
    expect([slow.sent.length, other.sent.length]).toEqual([1, 4]);
    slow.socket.unsent = 0;
    slow.handler.drained?.();
    expect(slow.messages()[1]).toMatchObject({ lines: [{ n: 1, runs: ['e'] }] });
  });

  it('waits for all slow readers together within a bound, and comes to each in the end', async () => {
    const { join, pass, become } = row();
    become(async () =>
      read(
        Array.from({ length: 100 }, () => 'x'.repeat(9_000)),
        { rows: 100 },
      ),
    );
    const viewers = Array.from({ length: 40 }, () => join());
    for (const { socket } of viewers) {
      const { send } = socket;
      socket.send = (message) => {
        send(message);
        socket.unsent = message.length;
      };
    }
    await pass(0);
    const waiting = viewers.filter(({ sent }) => sent.length > 0);
    expect(waiting.length).toBeLessThan(20);
    expect(waiting.length).toBeGreaterThan(10);
    for (let time = 0; time < 4; time += 1) {
      for (const { socket, handler } of viewers) {
        socket.unsent = 0;
        handler.drained?.();
      }
      await pass(250);
    }
    expect(viewers.every(({ sent }) => sent.length === 1)).toBe(true);
  });

  it('of one worker is not held up by that of another, nor asked for again before it was answered', async () => {
    const { asked, join, pass, become } = row();
    become(() => new Promise(() => undefined));
    join('stuck');
    await pass(0);
    become(async () => read(['a', 'b']));
    const { sent } = join('well');
    for (let time = 0; time < 4; time += 1) await pass(300);
    expect(sent).toHaveLength(1);
    expect(asked.filter(({ mux_session }) => mux_session === 'stuck')).toHaveLength(1);
    expect(asked.filter(({ mux_session }) => mux_session === 'well').length).toBeGreaterThan(3);
  });

  it('is asked for less often where each question starts a process, and while tmux is silent', async () => {
    const { asked, join, pass, become } = row();
    become(async () => told({ kind: 'same', cheap: false }));
    join();
    await pass(0);
    await pass(500);
    expect(asked).toHaveLength(1);
    become(async () => told({ kind: 'unknown', detail: 'it sleeps' }));
    await pass(100);
    expect(asked).toHaveLength(2);
    await pass(900);
    expect(asked).toHaveLength(2);
    await pass(100);
    expect(asked).toHaveLength(3);
  });

  it('stays as it was last told while tmux or the session does not answer, until the worker is gone', async () => {
    const { join, pass, become } = row();
    const { messages, closed } = join();
    await pass(0);
    become(async () => told({ kind: 'unknown', detail: 'it sleeps' }));
    await pass(250);
    expect(messages().at(-1)).toMatchObject({ stale: 'tmux does not answer: it sleeps', lines: [], end: 2 });
    become(async () => told({ kind: 'no_session' }));
    await pass(1_000);
    expect(messages().at(-1)).toMatchObject({ stale: expect.stringContaining('no terminal'), end: 2 });
    become(async () => {
      throw new CodedError('component_unavailable', 'the poller is starting again');
    });
    await pass(1_000);
    expect(messages().at(-1)).toMatchObject({ stale: 'the poller is starting again' });
    become(async () => told({ kind: 'no_worker' }));
    await pass(1_000);
    expect([messages().at(-1).state, closed]).toEqual(['ended', [4410]]);
  });
});
