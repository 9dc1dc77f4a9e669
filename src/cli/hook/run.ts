import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { appendLine, EVENTS_ROTATE_BYTES } from '../../ledgers/append-line.ts';
import type { CliContext } from '../verb.ts';
import { commitTold, eventLine, failedTurnLine, sessionStartLine, toldAt } from './event-line.ts';
import { phaseLine } from './phase-line.ts';

/** Milliseconds a hook may take in all; an agent waits for it. */
const LIMIT_MS = 2_000;
/** Its time counts in steps that a process which gets no turn does not take: a busy machine costs no event. */
const TICK_MS = 50;
/** Milliseconds it waits for the end of its input; then what has come must do. */
const INPUT_MS = 1_000;
/** The age in milliseconds of a commit that a tool call which just ended can have made. */
const FRESH_COMMIT_MS = 10 * 60_000;
/** How much of the end of `commits.jsonl` is searched for a commit that was told already. */
const LOOK_BACK_BYTES = 64 * 1024;
/** What a hook may be given on stdin, in bytes; a tool's output can be long. */
const MOST_INPUT_BYTES = 8 * 1024 * 1024;

type HookContext = Pick<CliContext, 'env' | 'cwd' | 'clock' | 'stdin'>;

/**
 * `svc hook event` and `svc hook commit`, apart from the other verbs: an agent waits for this, so it loads next to
 * nothing, and whatever goes wrong it ends in time, without a word, as if all were well.
 */
export async function runHook(argv: readonly string[], context: HookContext): Promise<void> {
  let ticks = 0;
  const watchdog = setInterval(() => {
    ticks += 1;
    if (ticks * TICK_MS >= LIMIT_MS) giveUp();
  }, TICK_MS);
  try {
    if (argv[0] === 'event') await recordEvent(argv.slice(1), context);
    else if (argv[0] === 'commit') await recordCommit(context, null);
  } catch {
    // An agent must not notice that its event was lost.
  } finally {
    clearInterval(watchdog);
  }
}

/**
 * Ends with 0 although a file operation hangs: `process.exit` would wait for the thread that it holds up, so this process
 * becomes a program that does nothing but end well, which ends every thread.
 */
function giveUp(): void {
  for (const program of ['/bin/true', '/usr/bin/true']) {
    try {
      if (existsSync(program)) process.execve?.(program, [program], {});
    } catch {
      // The next one, or the hard way.
    }
  }
  process.kill(process.pid, 'SIGKILL');
}

async function recordEvent(argv: readonly string[], context: HookContext): Promise<void> {
  const { env, clock } = context;
  const surroundings = Promise.all([muxSessionOf(env), hostOf(env)]).then(([mux_session, host]) => ({
    mux_session,
    host,
  }));
  const input: unknown = JSON.parse(await readInput(context.stdin));
  const now = toldAt(input, clock.now());
  const event = eventLine(input, {
    id: randomUUID(),
    now,
    harness: harnessOf(argv, env),
    ...(await surroundings),
  });
  const start = sessionStartLine(input, now);
  const runDir = given(env.SVC_RUN_DIR);
  const writes: Promise<void>[] = [];
  if (start !== null && runDir !== null) writes.push(appendLine(join(runDir, 'sessions.jsonl'), start));
  const phase = phaseLine(input, now);
  if (phase !== null && runDir !== null) writes.push(appendLine(join(runDir, 'phases.jsonl'), phase));
  const failed = runDir === null ? null : failedTurnLine(input, now);
  if (failed !== null && runDir !== null && (await isLimit(failed.notice)))
    writes.push(appendLine(join(runDir, 'usage-limits.jsonl'), failed));
  if (event !== null) writes.push(appendLine(ledger(env, 'events'), event, EVENTS_ROTATE_BYTES));
  await Promise.allSettled(writes);
  const told = commitTold(input);
  if (told !== null) await recordCommit({ ...context, cwd: told.folder }, told.session);
}

/** Only a failed turn pays for loading the rule; what is no limit is kept nowhere. */
async function isLimit(notice: string): Promise<boolean> {
  const rule = await import('../../harness/transcripts/usage-limit.ts');
  return rule.isLimit(notice);
}

/**
 * Adds the last commit of the work tree unless the ledger has it. `session` is who may have made it: then a commit
 * that is older than its tool call can be is somebody else's.
 */
async function recordCommit({ env, cwd, clock }: HookContext, session: string | null): Promise<void> {
  const [{ runProcess }, { LAST_COMMIT, parseLastCommit }] = await Promise.all([
    import('../../platform/process.ts'),
    import('./commit-line.ts'),
  ]);
  const git = (args: readonly string[]) =>
    runProcess({ file: 'git', args, cwd, env, timeout_ms: LIMIT_MS / 2, max_output_bytes: 64 * 1024 });
  const [log, top] = await Promise.all([git(LAST_COMMIT), git(['rev-parse', '--show-toplevel'])]);
  if (log.kind !== 'exited' || log.code !== 0 || top.kind !== 'exited' || top.code !== 0) return;
  const commit = parseLastCommit(log.stdout);
  if (commit === null) return;
  const { committed_at, ...facts } = commit;
  const path = ledger(env, 'commits');
  if (session !== null && committed_at < clock.now() - FRESH_COMMIT_MS) return;
  if (await endsWith(path, facts.sha)) return;
  await appendLine(path, {
    at: clock.now(),
    kind: 'commit',
    ...facts,
    repo: top.stdout.replace(/\n$/, ''),
    session: session ?? (await runSession(env)),
    mux: await muxSessionOf(env),
    cwd,
  });
}

/** Do the last lines of a ledger name this commit? Whatever slips through, the index counts a commit once. */
async function endsWith(path: string, sha: string): Promise<boolean> {
  const { open } = await import('node:fs/promises');
  const file = await open(path, 'r').catch(() => null);
  if (file === null) return false;
  try {
    const { size } = await file.stat();
    const tail = Buffer.alloc(Math.min(size, LOOK_BACK_BYTES));
    const { bytesRead } = await file.read(tail, 0, tail.length, size - tail.length);
    return tail.subarray(0, bytesRead).includes(`"sha":"${sha}"`);
  } finally {
    await file.close();
  }
}

/** The session of this run: the newest one that its hooks reported, else the one it was launched with. */
async function runSession(env: NodeJS.ProcessEnv): Promise<string | null> {
  const runDir = given(env.SVC_RUN_DIR);
  if (runDir === null) return null;
  for (const line of ((await textOf(join(runDir, 'sessions.jsonl'))) ?? '').split('\n').reverse()) {
    const session = field(line, 'session');
    if (session !== null) return session;
  }
  return field((await textOf(join(runDir, 'run.json'))) ?? '', 'session_uuid');
}

async function muxSessionOf(env: NodeJS.ProcessEnv): Promise<string | null> {
  const runDir = given(env.SVC_RUN_DIR);
  return runDir === null ? null : field((await textOf(join(runDir, 'run.json'))) ?? '', 'mux_session');
}

function harnessOf(argv: readonly string[], env: NodeJS.ProcessEnv): string {
  const at = argv.indexOf('--harness');
  return (at === -1 ? undefined : argv[at + 1]) ?? given(env.SVC_HARNESS) ?? 'claude';
}

/** As `config/host-identity.ts` finds it, without the schemas that it loads. */
async function hostOf(env: NodeJS.ProcessEnv): Promise<string | null> {
  const named = given(env.SVC_HOST);
  if (named !== null) return named.trim();
  const folder = given(env.SVC_CONFIG_DIR) ?? join(homedir(), '.config', 'svc');
  const file = given(env.SVC_HOST_CONFIG_FILE) ?? join(folder, 'host.json');
  const [os = ''] = hostname().trim().toLowerCase().split('.');
  return field((await textOf(file)) ?? '', 'host') ?? os.replace(/[^a-z0-9-]+/g, '-').replace(/^-+|-+$/g, '');
}

function ledger(env: NodeJS.ProcessEnv, name: 'events' | 'commits'): string {
  const file = given(name === 'events' ? env.SVC_EVENTS_FILE : env.SVC_COMMITS_FILE);
  return file ?? join(given(env.SVC_DATA_DIR) ?? join(homedir(), '.svc'), `${name}.jsonl`);
}

function given(value: string | undefined): string | null {
  return value === undefined || value.trim() === '' ? null : value;
}

/** Never read at once: a file system that hangs must hold up a thread of the pool, and not the one that keeps the time. */
async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return null;
  }
}

function field(json: string, name: string): string | null {
  try {
    const value = (JSON.parse(json) as Record<string, unknown>)[name];
    return typeof value === 'string' && value !== '' ? value : null;
  } catch {
    return null;
  }
}

function readInput(stdin: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const done = () => {
      clearTimeout(limit);
      resolve(Buffer.concat(chunks).toString('utf8'));
    };
    // On a busy machine the limit may have passed before the input that lies there was looked at: it is, first.
    const limit = setTimeout(() => setImmediate(() => setImmediate(done)), INPUT_MS);
    stdin.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MOST_INPUT_BYTES) reject(new Error('too much input'));
    });
    stdin.once('end', done);
    stdin.once('error', reject);
  });
}
