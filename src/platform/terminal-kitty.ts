import { lstatSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { messageOf, systemCode } from '../base/errors.ts';
import { readableFolderNames } from './folder-names.ts';

/** How the terminal emulator starts a program. */
export type TerminalLaunch = {
  argv: readonly string[];
  title: string;
  /** `os-window`: in a new window; `background`: without a window. */
  type: 'os-window' | 'background';
  /** Working directory of the program; default: the emulator's. */
  cwd?: string;
};

/** `refused`: an emulator answered and would not; `unreachable`: none answered. */
export type TerminalLaunched =
  | { kind: 'opened'; terminal: 'kitty' }
  | { kind: 'refused' | 'unreachable'; detail: string };

/** Where kitty may listen: the given address, else that of its variable, else its sockets in the folder. */
export type KittyPlaces = {
  /** `unix:/path`, `unix:@name` or a path; if given, only this one is tried. */
  named: string | null;
  env: NodeJS.ProcessEnv;
  /** kitty appends its pid to the configured path; its manual suggests `/tmp/kitty`. */
  folder: string;
  /** Our uid; sockets of other users are never used. */
  uid: number | null;
};

/** The protocol version: kitty refuses a version newer than its own, so this is an old one. */
const PROTOCOL_VERSION = [0, 14, 2];
const BEGIN = '\u001bP@kitty-cmd';
const END = '\u001b\\';
const DEADLINE_MS = 3_000;
const MOST_ANSWER = 256 * 1024;

/** Starts a program in the first kitty that answers, by kitty's remote control protocol. */
export async function launchInKitty(launch: TerminalLaunch, places: KittyPlaces): Promise<TerminalLaunched> {
  const sockets = kittySockets(places);
  let detail = 'no kitty listens for remote control here';
  for (const socket of sockets) {
    const answer = await ask(socket, request(launch)).catch((error) => ({ unreachable: messageOf(error) }));
    if ('unreachable' in answer) {
      detail = `kitty at ${socket} does not answer (${answer.unreachable})`;
      continue;
    }
    if (answer.ok) return { kind: 'opened', terminal: 'kitty' };
    return { kind: 'refused', detail: `kitty at ${socket} refused: ${answer.error}` };
  }
  return { kind: 'unreachable', detail };
}

/** Sockets to try, newest process first: paths, or `@name` for an abstract socket. */
export function kittySockets(places: KittyPlaces): string[] {
  const { named, env, folder, uid } = places;
  if (named !== null) return [pathOf(named)];
  const listening = env.KITTY_LISTEN_ON;
  const own = listening === undefined || !listening.startsWith('unix:') ? [] : [pathOf(listening)];
  const names = readableFolderNames(folder).filter((name) => /^(my)?kitty(-\d+)?$/.test(name));
  const found = names
    .sort((a, b) => pidIn(b) - pidIn(a) || (a < b ? -1 : 1))
    .map((name) => join(folder, name))
    .filter((path) => isOwnSocket(path, uid));
  return [...new Set([...own, ...found])];
}

function pathOf(address: string): string {
  return address.replace(/^unix:/, '');
}

function pidIn(name: string): number {
  return Number(/-(\d+)$/.exec(name)?.[1] ?? 0);
}

function isOwnSocket(path: string, uid: number | null): boolean {
  try {
    const entry = lstatSync(path);
    return entry.isSocket() && (uid === null || entry.uid === uid);
  } catch {
    return false;
  }
}

function request({ argv, title, type, cwd }: TerminalLaunch): string {
  const payload = {
    args: [...argv],
    type,
    ...(cwd === undefined ? {} : { cwd }),
    ...(type === 'background' ? {} : { window_title: title }),
  };
  const command = { cmd: 'launch', version: PROTOCOL_VERSION, no_response: false, payload };
  return `${BEGIN}${JSON.stringify(command)}${END}`;
}

type KittyAnswer = { ok: true } | { ok: false; error: string };

/** Sends one request over a new connection and resolves to the answer; rejects after a timeout. */
function ask(socket: string, text: string): Promise<KittyAnswer> {
  return new Promise((resolve, reject) => {
    const connection = connect({ path: socket.startsWith('@') ? `\0${socket.slice(1)}` : socket });
    let received = '';
    const fail = (why: string) => {
      connection.destroy();
      reject(new Error(why));
    };
    connection.setTimeout(DEADLINE_MS, () => fail(`no answer within ${DEADLINE_MS / 1000} s`));
    connection.setEncoding('utf8');
    connection.on('connect', () => connection.write(text));
    connection.on('data', (chunk: string) => {
      received += chunk;
      if (received.length > MOST_ANSWER) return fail('its answer is too large');
      const answer = answerIn(received);
      if (answer === null) return;
      connection.destroy();
      resolve(answer);
    });
    connection.on('error', (error) => reject(new Error(systemCode(error) ?? error.message)));
    connection.on('close', () => reject(new Error('it closed the connection without an answer')));
  });
}

/** The answer in the bytes received so far; null while it is incomplete. */
function answerIn(received: string): KittyAnswer | null {
  const begin = received.indexOf(BEGIN);
  const end = begin === -1 ? -1 : received.indexOf(END, begin);
  if (end === -1) return null;
  try {
    const answer = JSON.parse(received.slice(begin + BEGIN.length, end)) as { ok?: unknown; error?: unknown };
    if (answer.ok === true) return { ok: true };
    return { ok: false, error: typeof answer.error === 'string' ? answer.error : 'it gave no reason' };
  } catch {
    return { ok: false, error: 'its answer is not JSON' };
  }
}
