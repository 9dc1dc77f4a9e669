import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { CodedError } from '../base/errors.ts';
import { APP_HARNESS } from '../contract/harness-name.ts';
import { memoryMaxSchema } from '../contract/memory-max.ts';
import { type AppServerAddress, parseAppServerAddress } from './app-server-address.ts';

type Parsed<T> = { ok: true; value: T } | { ok: false; expected: string };

type Setting<T> = {
  env: string;
  /** Shown by `svc daemon settings`. */
  meaning: string;
  /** Value when the variable is unset or blank. */
  fallback: T;
  parse(text: string): Parsed<T>;
};

function setting<T>(
  env: string,
  fallback: T,
  parse: (text: string) => Parsed<T>,
  meaning: string,
): Setting<T> {
  return { env, fallback, parse, meaning };
}

function text<F extends string | null>(env: string, fallback: F, meaning: string): Setting<string | F> {
  return setting<string | F>(env, fallback, (value) => ({ ok: true, value: value.trim() }), meaning);
}

const AN_ABSOLUTE_PATH = 'an absolute path, or one that begins with ~/';

/** Relative paths are refused, because the daemon, its workers and the shell have different working directories. */
function absolute(text: string): { ok: true; value: string } | null {
  const expanded = expandHome(text);
  return isAbsolute(expanded) ? { ok: true, value: resolve(expanded) } : null;
}

function path<F extends string | null>(env: string, fallback: F, meaning: string): Setting<string | F> {
  return setting<string | F>(
    env,
    fallback,
    (value) => absolute(value.trim()) ?? { ok: false, expected: AN_ABSOLUTE_PATH },
    meaning,
  );
}

function whole(env: string, fallback: number, least: number, meaning: string): Setting<number> {
  return setting(
    env,
    fallback,
    (value) => {
      const number = Number(value.trim());
      return Number.isSafeInteger(number) && number >= least
        ? { ok: true, value: number }
        : { ok: false, expected: `a whole number of at least ${least}` };
    },
    meaning,
  );
}

/** Comma-separated values, trimmed, blanks dropped. */
function list<F extends string[] | null>(env: string, fallback: F, meaning: string): Setting<string[] | F> {
  return setting<string[] | F>(env, fallback, (value) => ({ ok: true, value: splitList(value) }), meaning);
}

function pathList(env: string, meaning: string): Setting<string[] | null> {
  return setting<string[] | null>(
    env,
    null,
    (value) => {
      const paths = splitList(value).flatMap((entry) => absolute(entry) ?? []);
      return paths.length === splitList(value).length
        ? { ok: true, value: paths.map((entry) => entry.value) }
        : { ok: false, expected: `${AN_ABSOLUTE_PATH}, several separated by commas` };
    },
    meaning,
  );
}

function oneOf<T extends string>(
  env: string,
  fallback: T,
  values: readonly T[],
  meaning: string,
): Setting<T> {
  return setting<T>(
    env,
    fallback,
    (value) => {
      const found = values.find((entry) => entry === value.trim());
      return found === undefined
        ? { ok: false, expected: `one of ${values.join(', ')}` }
        : { ok: true, value: found };
    },
    meaning,
  );
}

const home = homedir();
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Every setting of the daemon and the CLI: one row each, all optional. */
export const SETTINGS = {
  host: text('SVC_HOST', null, 'Host id; else host.json, else the OS host name'),
  stores: pathList('SVC_STORES', 'Stores to poll, comma-separated; else stores.json'),
  projects: pathList('SVC_PROJECTS', 'Projects for the pickers, comma-separated; else projects.json'),
  listen: text('SVC_LISTEN', '127.0.0.1:4000', 'host:port (port 0 picks a free one) or unix:/path'),
  http: oneOf(
    'SVC_HTTP',
    'auto',
    ['auto', 'uws', 'node'],
    'Which server speaks HTTP: the native one, Node’s own, or the first that can be loaded',
  ),
  data_dir: path('SVC_DATA_DIR', join(home, '.svc'), 'Ledgers, runs, state'),
  runtime_dir: path(
    'SVC_RUNTIME_DIR',
    null,
    'Leases of this user’s daemons; else in XDG_RUNTIME_DIR, else /tmp/fiber-dispatch-<uid>',
  ),
  config_dir: path('SVC_CONFIG_DIR', join(home, '.config', 'svc'), 'Operator files'),
  agents_file: path('SVC_AGENTS_FILE', null, 'Agent registry; else agents.json in the config dir'),
  remotes_file: path('SVC_REMOTES_FILE', null, 'Remotes; else remotes.json in the config dir'),
  host_config_file: path('SVC_HOST_CONFIG_FILE', null, 'Host file; else host.json in the config dir'),
  ui_dist: path('SVC_UI_DIST', null, 'Folder with the built board'),
  dev_origins: list('SVC_DEV_ORIGINS', [] as string[], 'Origins allowed to write besides the page itself'),
  allowed_hosts: list('SVC_ALLOWED_HOSTS', [] as string[], 'Host header names allowed besides loopback'),
  tmux_socket: path('SVC_TMUX_SOCKET', null, 'Socket path of a private tmux server; else the user’s own'),
  app_server: setting<AppServerAddress | null>(
    'SVC_APP_SERVER',
    null,
    (value) => {
      const address = parseAppServerAddress(value.trim());
      return address === null
        ? { ok: false, expected: 'unix:/path or ws://127.0.0.1:port' }
        : { ok: true, value: address };
    },
    'The running app server of app conversations: unix:/path or ws://127.0.0.1:port',
  ),
  app_scheme: setting(
    'SVC_APP_SCHEME',
    APP_HARNESS,
    (value) =>
      /^[a-z][a-z0-9+.-]*$/.test(value.trim())
        ? { ok: true, value: value.trim() }
        : { ok: false, expected: `a URL scheme such as ${APP_HARNESS}` },
    'Scheme of the desktop links to app conversations',
  ),
  terminal_socket: text(
    'SVC_TERMINAL_SOCKET',
    null,
    'kitty’s socket; else KITTY_LISTEN_ON, else those in /tmp',
  ),
  log_level: oneOf('SVC_LOG_LEVEL', 'info', LOG_LEVELS, 'Level of the structured log'),
  cli: path('SVC_CLI', null, 'An external CLI instead of the bundled one'),
  cli_timeout_ms: whole('SVC_CLI_TIMEOUT_MS', 10_000, 50, 'Time limit of one verb of the external CLI'),
  recorder: text('SVC_RECORDER', null, 'Meeting recorder executable'),
  recorder_engine: oneOf(
    'SVC_RECORDER_ENGINE',
    'auto',
    ['auto', 'sherpa', 'pocketsphinx', 'vad'],
    'What turns speech into text in the bundled recorder: one of them, or the first that can be used',
  ),
  recorder_models: path('SVC_RECORDER_MODELS', null, 'Folder with a model of sherpa-onnx for it'),
  recorder_grammar: path('SVC_RECORDER_GRAMMAR', null, 'JSGF grammar for PocketSphinx in it'),
  recorder_audio: oneOf(
    'SVC_RECORDER_AUDIO',
    'on',
    ['on', 'off'],
    'Whether the bundled recorder keeps the audio of meetings',
  ),
  recorder_audio_days: whole('SVC_RECORDER_AUDIO_DAYS', 30, 1, 'How many days the audio of meetings is kept'),
  events_file: path('SVC_EVENTS_FILE', null, 'Events ledger; else events.jsonl in the data dir'),
  sessions_file: path('SVC_SESSIONS_FILE', null, 'Sessions ledger; else sessions.jsonl in the data dir'),
  commits_file: path('SVC_COMMITS_FILE', null, 'Commits ledger; else commits.jsonl in the data dir'),
  poll_interval_ms: whole('SVC_POLL_INTERVAL_MS', 30_000, 50, 'Time between two poll ticks'),
  listing_timeout_ms: whole(
    'SVC_LISTING_TIMEOUT_MS',
    10_000,
    50,
    'The last known rows are used when a listing makes no progress for this long',
  ),
  message_observe_ms: whole(
    'SVC_MESSAGE_OBSERVE_MS',
    5_000,
    0,
    'How long a message waits for evidence of its arrival before it is answered',
  ),
  message_recheck_ms: whole(
    'SVC_MESSAGE_RECHECK_MS',
    2_000,
    0,
    'How long a repeated message looks for later evidence',
  ),
  message_pair_limit: whole(
    'SVC_MESSAGE_PAIR_LIMIT',
    20,
    1,
    'Most messages in one hour from one session to another, so that two agents cannot answer each other for ever',
  ),
  message_hold_ms: whole(
    'SVC_MESSAGE_HOLD_MS',
    86_400_000,
    0,
    'How long a message waits for a session that is not ready for it',
  ),
  message_keep_days: whole(
    'SVC_MESSAGE_KEEP_DAYS',
    90,
    30,
    'How many days a message is kept after its last stage, 30 or more',
  ),
  message_keep_count: whole(
    'SVC_MESSAGE_KEEP_COUNT',
    100_000,
    1,
    'How many messages are kept; of more, the oldest are removed when they are 30 days old',
  ),
  preflight_cooldown_ms: whole(
    'SVC_PREFLIGHT_COOLDOWN_MS',
    300_000,
    0,
    'Wait before a refused launch is tried again',
  ),
  remote_reuse_ms: whole(
    'SVC_REMOTE_REUSE_MS',
    60_000,
    0,
    'How long the answer of another host is used again for composites before it is asked for anew',
  ),
  remote_answer_ms: whole(
    'SVC_REMOTE_ANSWER_MS',
    5_000,
    50,
    'How long a composite waits for other hosts before their last answers are taken',
  ),
  remote_stale_ms: whole(
    'SVC_REMOTE_STALE_MS',
    600_000,
    1,
    'What another host answered longer ago than this is stale',
  ),
  discovery: oneOf(
    'SVC_DISCOVERY',
    'auto',
    ['auto', 'off'],
    'Whether daemons of this user are looked for in the tailnet, where one is joined',
  ),
  discovery_interval_ms: whole('SVC_DISCOVERY_INTERVAL_MS', 300_000, 1_000, 'Time between two such looks'),
  tailnet_socket: path(
    'SVC_TAILNET_SOCKET',
    null,
    'Socket of tailscaled; else the one of this user, else the system’s',
  ),
  tailnet_listen: oneOf(
    'SVC_TAILNET_LISTEN',
    'off',
    ['on', 'off'],
    'Whether other machines of this user in the tailnet may call this daemon',
  ),
  tailnet_port: setting(
    'SVC_TAILNET_PORT',
    4_000,
    (value) => {
      const number = Number(value.trim());
      return Number.isInteger(number) && number >= 1 && number <= 65_535
        ? { ok: true, value: number }
        : { ok: false, expected: 'a port number' };
    },
    'Port of daemons in the tailnet',
  ),
  startup_confirm_ms: whole(
    'SVC_STARTUP_CONFIRM_MS',
    90_000,
    100,
    'A start without a transcript or hook within this time is startup_unconfirmed',
  ),
  breaker_deaths: whole('SVC_BREAKER_DEATHS', 5, 1, 'Quick deaths in a row that pause a fiber'),
  breaker_quick_ends: whole(
    'SVC_BREAKER_QUICK_ENDS',
    10,
    1,
    'Quick ends in a row, including handoffs, that pause a oneshot',
  ),
  breaker_quick_ms: whole(
    'SVC_BREAKER_QUICK_MS',
    90_000,
    1,
    'An end sooner than this after the start counts as quick',
  ),
  breaker_pause_ms: whole('SVC_BREAKER_PAUSE_MS', 600_000, 1, 'How long such a fiber is paused'),
  breaker_long_pause_ms: whole(
    'SVC_BREAKER_LONG_PAUSE_MS',
    3_600_000,
    1,
    'How long it is paused after the next quick end; after one more it is held',
  ),
  resume_warm_window_ms: whole(
    'SVC_RESUME_WARM_WINDOW_MS',
    2_700_000,
    0,
    'A conversation with a transcript younger than this may be resumed',
  ),
  usage_limit_retry_ms: whole(
    'SVC_USAGE_LIMIT_RETRY_MS',
    1_800_000,
    1_000,
    'Wait after a usage limit that does not say when it ends',
  ),
  place_kept_ms: whole(
    'SVC_PLACE_KEPT_MS',
    60_000,
    0,
    'How long a worker that waits for a person still counts for `max_concurrent`',
  ),
  nudge_after_ms: whole(
    'SVC_NUDGE_AFTER_MS',
    600_000,
    1_000,
    'How long a worker is idle before it is told that its fiber is not closed, where the fiber says so',
  ),
  floor_memory: setting(
    'SVC_FLOOR_MEMORY',
    '5%',
    (value) =>
      memoryMaxSchema.safeParse(value.trim()).success
        ? { ok: true, value: value.trim() }
        : { ok: false, expected: 'a size such as 2 GB, a share of the machine’s memory such as 5%, or off' },
    'New workers wait while less memory than this is free',
  ),
  floor_processes: whole(
    'SVC_FLOOR_PROCESSES',
    200,
    0,
    'New workers wait while the machine has room for fewer processes and threads than this',
  ),
  floor_descriptors: whole(
    'SVC_FLOOR_DESCRIPTORS',
    100,
    0,
    'New workers wait while fewer files than this can be opened',
  ),
  floor_terminals: whole(
    'SVC_FLOOR_TERMINALS',
    16,
    0,
    'New workers wait while fewer terminals than this can be opened',
  ),
  start_burst: whole('SVC_START_BURST', 100, 1, 'Workers started at once before starts are spaced'),
  start_spacing_ms: whole('SVC_START_SPACING_MS', 1_000, 0, 'Time between two starts after that'),
  busy_load: whole(
    'SVC_BUSY_LOAD',
    4,
    0,
    'Load for each core above which workers are started one by one; 0 turns that off',
  ),
  busy_spacing_ms: whole('SVC_BUSY_SPACING_MS', 20_000, 0, 'Time between two starts on a busy machine'),
  worker_nice: whole(
    'SVC_WORKER_NICE',
    5,
    0,
    'Nice value of workers, so that the daemon goes before them on a busy machine; 0 turns it off',
  ),
  kill_grace_ms: whole(
    'SVC_KILL_GRACE_MS',
    3_000,
    0,
    'Time from SIGTERM to SIGKILL, and to see a worker end',
  ),
  heartbeat_interval_ms: whole(
    'SVC_HEARTBEAT_INTERVAL_MS',
    3_000,
    10,
    'Interval of the heartbeat of each thread',
  ),
  heartbeat_timeout_ms: whole(
    'SVC_HEARTBEAT_TIMEOUT_MS',
    15_000,
    50,
    'A thread is restarted that had so much time and answered no heartbeat; time in which others had the processor does not count',
  ),
  restart_intensity: whole('SVC_RESTART_INTENSITY', 5, 0, 'Restarts of one thread allowed in a row'),
  restart_window_ms: whole(
    'SVC_RESTART_WINDOW_MS',
    60_000,
    1,
    'A restart after so much running begins a new row',
  ),
  worker_memory_mb: whole(
    'SVC_WORKER_MEMORY_MB',
    1_024,
    32,
    'Heap limit of each thread; the fleet has half of it',
  ),
  stop_timeout_ms: whole('SVC_STOP_TIMEOUT_MS', 5_000, 50, 'Time each thread has to stop before it is ended'),
  demo: setting(
    'SVC_DEMO',
    false,
    (value) => ({ ok: true, value: value.trim() === '1' }),
    'Set by the demo: releases its own quarantine',
  ),
  demo_dir: path('SVC_DEMO_DIR', null, 'Set by the demo: its folder, where another one was named'),
} as const;

/** The settings as one frozen object; paths are absolute. */
export type Settings = {
  readonly [K in keyof typeof SETTINGS]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never;
};

/** Reads the environment once; throws `invalid_config` naming the variable and what it takes. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const values: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(SETTINGS) as [string, Setting<unknown>][]) {
    const raw = env[row.env];
    if (raw === undefined || raw.trim() === '') {
      values[name] = row.fallback;
      continue;
    }
    const parsed = row.parse(raw);
    if (!parsed.ok)
      throw new CodedError('invalid_config', `${row.env} is "${raw}"; it takes ${parsed.expected}`);
    values[name] = parsed.value;
  }
  return Object.freeze(values) as Settings;
}

/** `~` and `~/x` with the user's home folder; anything else unchanged. */
export function expandHome(value: string): string {
  if (value === '~') return home;
  return value.startsWith('~/') ? join(home, value.slice(2)) : value;
}

function splitList(value: string): string[] {
  return value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
