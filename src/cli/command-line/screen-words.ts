import { shellWord } from '../../base/shell-word.ts';
import type { BlockedView, SessionNotOurs } from '../../contract/fiber.ts';
import type { Gate } from '../../contract/gates.ts';
import type { Receipt } from '../../contract/http/messages.ts';
import { formatClock } from './output.ts';

const HOLD_WORDS: Readonly<Record<string, string>> = {
  boot_quarantine: 'held since the restart',
  killed: 'stopped by you',
  clean_exit: 'its agent was left without a handoff',
  server_lost: 'tmux ended',
  loop_breaker: 'failed again and again',
  not_concluded: 'the end of its last worker is not in its document yet',
};

/** Why a fiber is held, with what the person said who held it. */
export function holdWords(reason: string, note: string | null | undefined): string {
  const words = HOLD_WORDS[reason] ?? 'held';
  return note ? `${words}: ${note}` : words;
}

/** The command that lets a fiber start which is held for this reason. */
export function letGo(reason: string, fiber_id: string, svc = 'svc'): string {
  switch (reason) {
    case 'boot_quarantine':
      return `${svc} daemon release`;
    case 'not_concluded':
      return `${svc} why ${shellWord(fiber_id)}`;
    default:
      return `${svc} resume ${shellWord(fiber_id)}`;
  }
}

const GATE_WORDS: Readonly<Partial<Record<Gate, string>>> = {
  document: 'its document cannot be read',
  status: 'is not ready to start',
  host: 'names no host',
  due: 'no time of its schedule is due',
  mux: 'tmux does not answer',
  stopped_all: 'the emergency brake is on',
  data_dir: 'the data folder is gone',
  store_lease: 'another daemon works on its store',
  run_elsewhere: 'a run of it is marked on another machine',
  breaker: 'failed repeatedly; is retried automatically',
  usage_limit: 'its account is at its usage limit',
  cooldown: 'its last start failed; is retried automatically',
  max_concurrent: 'waits for a free place among the workers',
  resources: 'waits for room on the machine',
};

/** What keeps back an armed fiber. */
export function gateWords(gate: Gate | undefined): string {
  return (gate === undefined ? undefined : GATE_WORDS[gate]) ?? 'waits';
}

/** Why the last start of a fiber was refused. `now` in milliseconds since the Unix epoch. */
export function refusalWords(
  { reason, message, attempts, retry_at, screen }: BlockedView,
  project_dir: string | undefined,
  now: number,
): string {
  const [first = message] = message.split('; ');
  switch (reason) {
    case 'project_dir_missing':
      if (project_dir === undefined) return 'names no folder';
      return message.endsWith('does not exist')
        ? `folder ${project_dir} does not exist`
        : first.replace(/^the project folder /, 'folder ');
    case 'startup_unconfirmed': {
      const last = lastLine(screen);
      return last === null ? 'did not start' : `did not start: ${last}`;
    }
    case 'loop_breaker': {
      const again = retry_at === null ? '' : `; tries again at ${formatClock(retry_at, now)}`;
      return `failed ${attempts} times in a row${again}`;
    }
    case 'usage_limit':
      return retry_at === null
        ? 'at its usage limit'
        : `at its usage limit until ${formatClock(retry_at, now)}`;
    default:
      return first.replace(/^the project folder /, 'folder ');
  }
}

const OWNER_WORDS: Readonly<Record<string, string>> = {
  user_born: 'was started by you',
  daemon_born: 'was started by the daemon',
  absent: 'does not run yet',
  unknown: 'runs; the system does not tell what started it',
};

/** What started tmux, and the unit or slice that it belongs to, where the system tells it. */
export function muxOwnerWords({ kind, name }: { kind: string; name: string | null }): string {
  // The root of all control groups names nobody.
  return `${OWNER_WORDS[kind] ?? 'runs'}${name === null || name === '/' ? '' : ` (${name})`}`;
}

/** How far a message came. */
export const STAGE_WORDS: Readonly<Record<Receipt['status'], string>> = {
  accepted: 'answered',
  context_added: 'read as context',
  submitted: 'read',
  queued: 'in its queue',
  unknown: 'not known whether it came',
  rejected: 'refused',
};

/** The same of one message, which may not have been given to its session yet. */
export function stageWords({ status, transport }: Pick<Receipt, 'status' | 'transport'>): string {
  return transport === 'held' ? 'held' : STAGE_WORDS[status];
}

/** Whose workers use the same folder. */
export function sharedWith(others: readonly string[]): string {
  const more = others.length - SHARING_NAMED;
  const named =
    more <= 1 ? others.join(', ') : `${others.slice(0, SHARING_NAMED).join(', ')} and ${more} others`;
  return `shares its folder with ${named}`;
}

/** Of very many workers in one folder, each line would name all the others. */
const SHARING_NAMED = 5;

/** The same where there is no room for their ids. */
export function sharedWithSome(others: readonly string[]): string {
  return `shares its folder with ${others.length === 1 ? '1 other' : `${others.length} others`}`;
}

/** The last line of a screen that has words; its frame is no word. */
export function lastLine(screen: string | undefined): string | null {
  const lines = (screen ?? '').split('\n').map((line) => line.replace(/^[\s│|╭╰─]+|[\s│|╮╯─]+$/gu, ''));
  return lines.findLast((line) => /[\p{L}\p{N}]/u.test(line)) ?? null;
}

/** A session that has only the name of a worker, and how it is ended. */
export function notOursWords({ message, command }: SessionNotOurs): string {
  return `${message}; end it with: ${command}`;
}
