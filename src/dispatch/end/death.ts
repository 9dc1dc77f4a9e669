import { shellWord } from '../../base/shell-word.ts';
import { DEATH_SCREEN_LIMITS, type Death } from '../../contract/fiber.ts';
import type { SessionLine } from '../../contract/ledger.ts';
import type { Run } from '../run/run.ts';
import type { ExitRecord } from '../run-directory/run-records.ts';

/** What is known of an end; `reason` as in the ledger. */
export type DeathFacts = {
  run: Pick<Run, 'run_id' | 'agent' | 'fiber_id' | 'project_dir'>;
  reason: string;
  /** A phrase that says more than the reason, or why the record of its end cannot be read; null for none. */
  detail: string | null;
  exit: Pick<ExitRecord, 'code' | 'signal'> | null;
  /** The last that was seen of its screen. */
  screen: string | null;
  at: number;
};

/** Begins the message of a death whose record is there and cannot be read. */
export const END_UNREAD = 'how it ended cannot be read';

/** What the ledger says of a death; nothing where there was none. */
export function toldOfDeath(death: Death | null): Pick<SessionLine, 'detail' | 'mend' | 'screen'> {
  if (death === null) return {};
  const { message, mend, screen } = death;
  return { detail: message, mend, ...(screen === undefined ? {} : { screen }) };
}

/** What the ledger says of an end with 0 that was no death: nothing is to be fixed. */
export function tellCleanExit(screen: string | null): Pick<SessionLine, 'detail' | 'screen'> {
  const lines = lastLines(screen ?? '');
  return { detail: 'exit code 0, without a handoff', ...(lines === '' ? {} : { screen: lines }) };
}

type Said = { message: string; mend: string };

/** Why an agent died, and the likely fix; null for an end that somebody brought about. */
export function deathOf(facts: DeathFacts): Death | null {
  const screen = lastLines(facts.screen ?? '');
  const said = explain(facts, screen);
  if (said === null) return null;
  return {
    run_id: facts.run.run_id,
    at: facts.at,
    reason: facts.reason,
    code: facts.exit?.code ?? null,
    signal: facts.exit?.signal ?? null,
    ...said,
    ...(screen === '' ? {} : { screen }),
  };
}

function explain({ reason, detail, exit, run }: DeathFacts, screen: string): Said | null {
  switch (reason) {
    case 'agent_missing':
      return {
        message: `the program of agent ${run.agent} was not found`,
        mend: 'install it, or correct "cli" of that agent in agents.json; `svc doctor` shows what the daemon finds',
      };
    case 'project_dir_missing':
      return {
        message: `its folder ${run.project_dir} could not be entered`,
        mend: `make that folder accessible, or name another one with \`svc dispatch ${shellWord(run.fiber_id)} --project-dir DIR\``,
      };
    case 'memory_limit':
      return {
        message: detail ?? 'killed at its memory limit',
        mend: 'give it less to do at once, or raise memory_max in host.json or of its agent in agents.json',
      };
    case 'server_lost':
      return { message: 'it went down with the tmux server', mend: RESUME };
    case 'reboot':
      return { message: 'it went down with the machine', mend: RESUME };
    case 'session_gone':
      if (detail !== null)
        return {
          message: `${END_UNREAD} (${detail})`,
          mend: 'see that the data folder can be read: `svc doctor`; the last screen may still tell',
        };
      return {
        message: 'its terminal was closed, and nothing recorded how its program ended',
        mend: 'nothing, if a person closed it; otherwise look in the system log for a program that ends processes',
      };
    case 'exited':
      return explainExit(exit, run, screen);
    default:
      return null;
  }
}

const RESUME = 'continue its conversation with `svc incident resume --all`';

function explainExit(exit: DeathFacts['exit'], run: DeathFacts['run'], screen: string): Said {
  const { code = null, signal = null } = exit ?? {};
  const message =
    code === null ? (signal ?? 'ended') : `exit code ${code}${signal === null ? '' : ` after ${signal}`}`;
  return { message, mend: mendOf(code, signal, screen) ?? byHand(run) };
}

function mendOf(code: number | null, signal: string | null, screen: string): string | null {
  if (signal !== null) return SIGNALS[signal] ?? `find out what sent ${signal} to it`;
  if (code === 0)
    return 'nothing: its program did not go on with the earlier conversation, and the next start is fresh';
  const shown = SCREENS.find(([sign]) => sign.test(screen));
  if (shown !== undefined) return shown[1];
  return code === null ? null : (CODES[code] ?? null);
}

function byHand(run: DeathFacts['run']): string {
  return `read the last lines of its screen; if they do not tell, start the program of agent ${run.agent} by hand in ${run.project_dir}`;
}

const CRASH = 'its program crashed: update or reinstall it';
const ENDED = 'somebody ended it from outside; nothing needs to be fixed if that was you';

const SIGNALS: Readonly<Record<string, string>> = {
  SIGKILL:
    'a person or the system killed it: look for “out of memory” in the system log (`dmesg`, `journalctl -k`)',
  SIGTERM: ENDED,
  SIGHUP: ENDED,
  SIGINT: ENDED,
  SIGQUIT: ENDED,
  SIGSEGV: CRASH,
  SIGBUS: CRASH,
  SIGILL: CRASH,
  SIGABRT: CRASH,
  SIGFPE: CRASH,
  SIGTRAP: CRASH,
  SIGXCPU: 'it used up its CPU time limit: raise `ulimit -t`',
  SIGXFSZ: 'it wrote a file above its size limit: raise `ulimit -f`',
};

const CODES: Readonly<Record<number, string>> = {
  126: 'its program is not executable: correct its permissions, or "cli" of its agent in agents.json',
  127: 'its program starts another one that is not installed: read its last screen for the name',
};

/** What programs write before they give up, and the fix; the first match counts. */
const SCREENS: readonly (readonly [RegExp, string])[] = [
  [
    /not logged in|please (run )?\/?log ?in|invalid api key|(no|missing) api key|unauthori[sz]ed|authentication (failed|error)|\b401\b/i,
    'its program is not logged in: start it once by hand, log in, and check with `svc doctor`',
  ],
  [
    /(unknown|unexpected|unrecognized|invalid) (option|argument|flag)/i,
    'its program does not know an argument: correct "args" of its agent in agents.json, or update the program; `svc agents` shows both',
  ],
  [
    /model\b.{0,80}\b(not found|does not exist|not supported|not available)|(unknown|invalid) model/i,
    'its program does not know the model: name another one with `svc set-model`',
  ],
  [/no space left on device|\bENOSPC\b|disk quota exceeded/i, 'a disk is full: make room on it'],
  [/too many open files|\bEMFILE\b/i, 'it ran out of file descriptors: raise `ulimit -n`'],
  [
    /heap out of memory|cannot allocate memory|\bENOMEM\b/i,
    'it ran out of memory: give it less to do at once',
  ],
  [
    /\b(ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT)\b|could not resolve host|network is unreachable/i,
    'it could not reach its server: check the network and the proxy of this machine',
  ],
];

/** The last lines of a screen that hold text, each cut. */
function lastLines(screen: string): string {
  return screen
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .slice(-DEATH_SCREEN_LIMITS.lines)
    .map(cut)
    .join('\n');
}

function cut(line: string): string {
  if (line.length <= DEATH_SCREEN_LIMITS.line_chars) return line;
  return `${line.slice(0, DEATH_SCREEN_LIMITS.line_chars - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
