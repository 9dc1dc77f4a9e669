import { rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { sha256Of } from '../../base/digest.ts';
import { systemCode } from '../../base/errors.ts';
import { jsonOf } from '../../base/json-text.ts';
import type { GivenMessage, MessageWay, OpenWay } from '../harness.ts';
import { asTable, type Table } from '../table.ts';

/** Time limit of the first line, before which nothing is given, and of the answer; in milliseconds. */
const GREETS_WITHIN_MS = 2_000;
const ANSWERS_WITHIN_MS = 6_000;
/** Limit of a line that the extension sends. */
const MOST_LINE = 10_000;

/** The way into a Pi whose extension listens: the daemon's end of the socket. */
export const messageWay: MessageWay = {
  async open({ folder, session, terminal }) {
    const socket = await connected(join(folder, socketName(session)));
    if (socket === null) return null;
    const greeting = await nextLine(socket, GREETS_WITHIN_MS);
    // Another terminal may have the same conversation open.
    if (greeting.kind === 'line' && greeting.line.session === session && greeting.line.terminal === terminal)
      return wayThrough(socket);
    socket.destroy();
    return null;
  },
};

function socketName(session: string): string {
  return `pi-${sha256Of(session).slice(0, 16)}.sock`;
}

/** Null if nobody listens; a socket that a killed Pi left is removed. */
function connected(path: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    // After an error it closes, which is all that its readers need to know.
    socket.on('error', (error) => {
      if (systemCode(error) === 'ECONNREFUSED') void rm(path, { force: true }).catch(() => undefined);
      resolve(null);
    });
  });
}

function wayThrough(socket: Socket): OpenWay {
  return {
    transport: 'extension',
    async give(text): Promise<GivenMessage> {
      socket.write(`${JSON.stringify({ text })}\n`);
      const answer = await nextLine(socket, ANSWERS_WITHIN_MS);
      if (answer.kind === 'none') return { kind: 'unknown', detail: answer.why };
      const { taken, why } = answer.line;
      if (taken === 'starts') return { kind: 'given' };
      if (taken === 'queued') return { kind: 'queued' };
      const detail = typeof why === 'string' ? why : 'its extension did not report what it did';
      return { kind: taken === 'no' ? 'not_given' : 'unknown', detail };
    },
    close: () => socket.destroy(),
  };
}

type Heard = { kind: 'line'; line: Table } | { kind: 'none'; why: string };

function nextLine(socket: Socket, within_ms: number): Promise<Heard> {
  return new Promise((resolve) => {
    let text = '';
    const settle = (heard: Heard) => {
      clearTimeout(timer);
      socket.off('data', hear).off('close', onClose);
      resolve(heard);
    };
    const none = (why: string) => settle({ kind: 'none', why });
    const onClose = () => none('its program ended before it answered');
    const hear = (more: Buffer) => {
      text += String(more);
      if (text.length > MOST_LINE) none('its extension sent too long a line');
      else if (text.endsWith('\n')) settle({ kind: 'line', line: asTable(jsonOf(text)) });
    };
    const timer = setTimeout(() => none('its extension did not answer in time'), within_ms);
    socket.on('data', hear).on('close', onClose);
    if (socket.destroyed) onClose();
  });
}

/**
 * The part of the extension that takes messages, each as `pi.sendUserMessage`: no key is pressed, so that neither an open
 * dialog nor a draft in the editor is in its way. Lines of JSON on a socket of the conversation, which only this user can
 * reach: the extension says which conversation it is in, the daemon sends `{text}`, the extension answers with `taken`.
 *
 * Pi starts a turn with a text only if no other one is starting; else the text would be lost. A running turn takes it
 * between two steps (`steer`), as it takes text that a person types; after its end it would wait for hours.
 */
export const MESSAGE_SOCKET_PART = `
const MOST_CHARACTERS = 4_000_000;
/** How long a turn may need to begin, other extensions included, and Pi to tell of a text, in milliseconds. */
const STARTS_WITHIN = 15_000;
const TELLS_WITHIN = 4_000;
/** The texts that this extension gave to Pi and that Pi did not tell of yet. */
const given = new Map();

function takeMessages(pi) {
  let server = null;
  let path = null;
  let context = null;
  let running = false;
  let starting_until = 0;

  function take(text, answer) {
    const idle = context.isIdle();
    if (idle ? Date.now() < starting_until : !running)
      return answer({ taken: 'no', why: 'it is about to start a turn, or compacts its conversation' });
    const stop = setTimeout(() => {
      given.delete(text);
      answer({ taken: 'unknown', why: 'Pi did not say whether it took the text' });
    }, TELLS_WITHIN);
    given.set(text, () => {
      clearTimeout(stop);
      given.delete(text);
      answer({ taken: idle ? 'starts' : 'queued' });
    });
    pi.sendUserMessage(text, { deliverAs: 'steer' });
  }

  function serve(socket) {
    let heard = '';
    const answer = (line) => socket.end(JSON.stringify(line) + '\\n');
    socket.setEncoding('utf8');
    socket.on('error', () => socket.destroy());
    socket.on('data', (more) => {
      heard += more;
      if (heard.length > MOST_CHARACTERS) return socket.destroy();
      const end = heard.indexOf('\\n');
      if (end === -1) return;
      socket.removeAllListeners('data');
      try {
        take(JSON.parse(heard.slice(0, end)).text, answer);
      } catch (error) {
        answer({ taken: 'unknown', why: String(error?.message ?? error) });
      }
    });
    const terminal = /,(\\d+)$/.exec(process.env.TMUX ?? '')?.[1];
    socket.write(
      JSON.stringify({
        session: context.sessionManager.getSessionId(),
        terminal: terminal === undefined ? null : '$' + terminal,
      }) + '\\n',
    );
  }

  function close() {
    if (server === null) return;
    server.close();
    server = null;
    rmSync(path, { force: true });
  }

  pi.on('session_start', (_what, ctx) => {
    try {
      close();
      if (pi.sendUserMessage === undefined) return;
      context = ctx;
      const folder = join(process.env.SVC_DATA_DIR?.trim() || join(homedir(), '.svc'), 'session-sockets');
      const session = ctx.sessionManager.getSessionId();
      path = join(folder, 'pi-' + createHash('sha256').update(session).digest('hex').slice(0, 16) + '.sock');
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      rmSync(path, { force: true });
      server = createServer(serve);
      server.on('error', () => {});
      server.listen(path, () => chmodSync(path, 0o600));
      server.unref();
    } catch {
      // Messages are typed instead.
    }
  });
  pi.on('session_shutdown', close);
  pi.on('input', ({ text }, ctx) => {
    if (ctx.isIdle()) starting_until = Date.now() + STARTS_WITHIN;
    given.get(text)?.();
  });
  pi.on('agent_start', () => {
    running = true;
    starting_until = 0;
  });
  pi.on('agent_settled', () => {
    running = false;
  });
}
`;
