import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { applyScreen, NO_SCREEN, type Screen } from '../../board/src/model/screen.ts';
import { type TerminalMessage, terminalMessageSchema } from '../../src/contract/http/terminal.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';

let daemon: TestDaemon | undefined;
const clients: WebSocket[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.terminate();
  await daemon?.dispose();
  daemon = undefined;
});

/** A reader of a worker's terminal. */
function look(session: string) {
  const client = new WebSocket(`ws://${daemon!.address}/api/v1/terminal?session=${session}`);
  clients.push(client);
  const told: TerminalMessage[] = [];
  let screen: Screen = NO_SCREEN;
  client.on('message', (data) => {
    const message = terminalMessageSchema.parse(JSON.parse(String(data)));
    told.push(message);
    if (message.state === 'screen') screen = applyScreen(screen, message);
  });
  const text = () =>
    screen.lines
      .map((runs) => runs.map((run) => (typeof run === 'string' ? run : run.text)).join(''))
      .join('\n');
  return { client, told, text, ended: once(client, 'close') };
}

/** Has the agent of a fiber, which takes orders from a file, run a shell command on its terminal. */
function order(fiber: string, command: string): void {
  daemon!.home.write(`projects/${fiber}/orders`, `{ ${command}; } >/dev/tty`);
}

describe('the terminal of a worker', () => {
  it.each(['auto', 'node'])('is shown to all who look, until the worker has ended: %s', async (http) => {
    daemon = await startTestDaemon({
      settings: { SVC_HTTP: http },
      prepare: (home) => void home.fiber('watched', { agent: 'talks', front: { status: 'open' } }),
    });
    await daemon.dispatch({ fiber_id: 'watched', force: true });
    const { runtime } = await daemon.running('watched');
    const session = runtime.mux_session ?? '';
    const readers = [look(session), look(session)];
    order('watched', "printf '\\033[1;31mon the screen\\033[0m now\\n'");
    for (const { text } of readers) await until('the text', () => text().includes('on the screen now'));
    expect(JSON.stringify(readers[0]!.told)).toContain('{"text":"on the screen","fg":1,"bold":true}');
    order('watched', 'echo more of it');
    for (const { text } of readers) await until('the new text', () => text().includes('more of it'));
    await daemon.kill('watched');
    for (const { ended, told } of readers) {
      expect(String(await ended)).toBe('4410,The worker has ended.');
      expect(told.at(-1)).toEqual({ state: 'ended', reason: 'The worker has ended.' });
    }
    const again = look(session);
    expect((await again.ended)[0]).toBe(4404);
    expect(again.told).toEqual([{ state: 'refused', reason: expect.stringContaining(session) }]);
    expect((await look('svc-anchor').ended)[0]).toBe(4404);
  });

  it('is read without the connection to tmux too, as after a restart of the daemon', async () => {
    daemon = await startTestDaemon({
      prepare: (home) => void home.fiber('watched', { agent: 'talks', front: { status: 'open' } }),
    });
    await daemon.dispatch({ fiber_id: 'watched', force: true });
    await daemon.running('watched');
    const before = look((await daemon.running('watched')).runtime.mux_session ?? '');
    await until('the screen', () => before.told.length > 0);
    await daemon.restart();
    expect((await before.ended)[0]).toBe(1001);
    const { runtime } = await daemon.running('watched');
    const { text } = look(runtime.mux_session ?? '');
    order('watched', 'echo still here');
    await until('the text', () => text().includes('still here'));
  });
});
