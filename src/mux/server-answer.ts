import type { ProcessResult } from '../platform/process.ts';
import type { MuxServer, MuxSession, PaneFolder } from './mux.ts';

/** The result of one run of a tmux client. Only tmux's own message makes a server `absent`. */
export type ServerAnswer =
  | { kind: 'done'; text: string }
  /** tmux reported that there is no server at `socket`. */
  | { kind: 'no_server'; socket: string }
  /** The server refused the command. */
  | { kind: 'refused'; message: string }
  | { kind: 'unknown'; detail: string };

const NO_SERVER = [
  /^no server running on (.+)$/,
  /^error connecting to (.+) \(No such file or directory\)$/,
] as const;

/** Messages about the connection, not about the command: the state of the server stays unknown. */
const UNCERTAIN = /^(error connecting|lost server|server exited|couldn't create|fork failed|open failed)/;

/** Reads the end of `tmux …` run with argv. tmux exits 1 for every failure, so the message decides. */
export function classifyAnswer(result: ProcessResult): ServerAnswer {
  if (result.kind === 'timed_out') return { kind: 'unknown', detail: 'tmux did not answer in time' };
  if (result.kind === 'overflowed') return { kind: 'unknown', detail: 'tmux printed more than the limit' };
  if (result.kind === 'not_started') {
    return { kind: 'unknown', detail: `tmux could not be started (${result.code})` };
  }
  if (result.kind === 'signalled') return { kind: 'unknown', detail: `tmux was ended by ${result.signal}` };
  if (result.code === 0) return { kind: 'done', text: result.stdout };
  const words = result.stderr.trim();
  for (const pattern of NO_SERVER) {
    const socket = pattern.exec(words)?.[1];
    if (socket !== undefined) return { kind: 'no_server', socket };
  }
  if (words === '' || UNCERTAIN.test(words)) {
    return { kind: 'unknown', detail: words || `tmux exited with ${result.code} and printed nothing` };
  }
  return { kind: 'refused', message: words };
}

/** What the lines of `PANE_FORMAT` tell of a server. */
export type ListedPanes = {
  sessions: MuxSession[];
  server_pid: number | null;
  version: string | null;
  /** The server ends with its last client, whatever its sessions do. */
  exits_unattached: boolean;
  server?: MuxServer;
};

/** The script of a launch in its folder, or that of a meeting under the name of its files. */
const OWN_SCRIPT = /\/([^/]+)\/run\.sh"?$|\/(\d{4}-\d\d-\d\d-\d{4}-[a-z0-9-]+)\.sh"?$/;

/** The sessions in lines of `PANE_FORMAT`, and what they tell of their server; null when a line cannot be read. */
export function parsePanes(lines: readonly string[]): ListedPanes | null {
  const sessions = new Map<string, MuxSession>();
  const told: Omit<ListedPanes, 'sessions'> = { server_pid: null, version: null, exits_unattached: false };
  for (const line of lines) {
    const match = /^(\$\d+) (\d+) (\S*) (%\d+) (\d*) (\d?) (\d+)(?::(\d+))? (\S*) (\S*) ([^:]*):(.*)$/.exec(
      line,
    );
    if (match === null) return null;
    const [, id = '', created, clients = '', pane = '', pid, dead, server, started, release, exits] = match;
    const [name = '', command = ''] = match.slice(11);
    told.server_pid = Number(server);
    if (started !== undefined) told.server = { pid: told.server_pid, started_at: Number(started) * 1000 };
    told.version = release || null;
    told.exits_unattached = exits === '1' || exits === 'on';
    const session = sessions.get(id) ?? {
      ...{ id, name, created_at: Number(created) * 1000, attached: terminalsOf(clients), panes: [] },
    };
    const launch_id = OWN_SCRIPT.exec(command)?.slice(1).find(Boolean) ?? null;
    session.panes.push({ id: pane, pid: Number(pid) || null, dead: dead === '1', launch_id });
    sessions.set(id, session);
  }
  for (const { panes } of sessions.values()) panes.sort((one, other) => numberOf(one) - numberOf(other));
  return { sessions: [...sessions.values()], ...told };
}

function numberOf({ id }: { id: string }): number {
  return Number(id.slice(1));
}

/** Counts the clients with a terminal in `#{session_attached_list}`; tmux calls one without a terminal `client-<pid>`. */
function terminalsOf(clients: string): number {
  return clients.split(',').filter((name) => name !== '' && !name.startsWith('client-')).length;
}

/** The panes in lines of `sessionPanes`; null when a line cannot be read. */
export function parseSessionPanes(lines: readonly string[]): PaneFolder[] | null {
  const panes: PaneFolder[] = [];
  for (const line of lines) {
    const match = /^(%\d+) (\d+) ([01]) (.*)$/.exec(line);
    if (match === null) return null;
    const [, id = '', pid, dead, cwd = ''] = match;
    panes.push({ id, pid: Number(pid), dead: dead === '1', cwd });
  }
  return panes;
}

/**
 * Whether `/proc/net/unix` shows a listener at `path`. A server whose socket file was deleted still listens there, so a
 * missing file does not prove that the server is gone.
 */
export function listensAt(procNetUnix: string, path: string): boolean {
  const ACCEPTS = 0x10000;
  return procNetUnix.split('\n').some((line) => {
    const match = /^\S+ \S+ \S+ ([0-9A-F]{8}) \S+ \S+ +\d+ (.+)$/.exec(line);
    return match !== null && match[2] === path && (Number.parseInt(match[1]!, 16) & ACCEPTS) !== 0;
  });
}

/** What a line of `paneFacts` tells; null for a pane that is not there. */
export function parsePaneFacts(
  line: string,
): { pid: number; dead: boolean; columns: number; rows: number; history: number } | null {
  const match = /^(\d+) (\d?) (\d+) (\d+) (\d+)$/.exec(line);
  if (match === null) return null;
  const [, pid, dead, columns, rows, history] = match;
  return {
    pid: Number(pid),
    dead: dead === '1',
    columns: Number(columns),
    rows: Number(rows),
    history: Number(history),
  };
}
