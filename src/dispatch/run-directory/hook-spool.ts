import { appendFileSync, existsSync, lstatSync, renameSync, rmSync, statSync, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf, systemCode } from '../../base/errors.ts';
import { jsonOf } from '../../base/json-text.ts';
import type { Logger } from '../../base/logger.ts';
import {
  commitTold,
  eventLine,
  failedTurnLine,
  sessionStartLine,
  toldAt,
} from '../../harness/hooks/event-line.ts';
import { phaseLine } from '../../harness/hooks/phase-line.ts';
import { asTable, type Table } from '../../harness/table.ts';
import { isLimit } from '../../harness/transcripts/usage-limit.ts';
import { appendLineSync, ROTATE_BYTES } from '../../ledgers/append-line.ts';
import { type CommitLine, parseLastCommit } from '../../ledgers/commit-line.cjs';
import { askLastCommit, type PrintedCommit } from '../../ledgers/last-commit.ts';
import { folderNames } from '../../platform/folder-names.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import type { ProcessRunner } from '../../platform/process.ts';
import { readRegularTextSync } from '../../platform/regular-file.ts';
import { runOfClaimedPane } from './claimed-panes.ts';
import { PHASE_SIGNS_FILE } from './phase-signs.ts';
import { isLaunchId, RUN_FILES, runDirectoryOf } from './run-directory.ts';
import { endOfFile } from './run-file-end.ts';
import { readSessionStarts, SESSION_STARTS_FILE } from './session-starts.ts';
import {
  compareSpooled,
  idOfSpooled,
  parseSpooled,
  parseSpoolName,
  type SpooledHook,
  type SpoolFile,
  type SpoolStage,
  spoolNameAt,
} from './spooled-hook.ts';
import { USAGE_NOTICES_FILE } from './usage-notices.ts';

/** The largest file that a hook can leave, in bytes. */
const MOST_BYTES = 16_640 * 1024;
/** How often the folder is looked at without file system events, in milliseconds. */
const SWEEP_MS = 2_000;
/** How soon a file that a hook is still writing is looked at again, in milliseconds; later with the sweep. */
const AGAIN_MS = 20;
/** No hook takes longer than this, in milliseconds: its program ends it. What is not complete by then is dropped. */
const HOOK_MS = 60_000;
/** How much of the end of a ledger is searched for a line that a daemon before may have written. */
const LOOK_BACK_BYTES = 256 * 1024;
/** Maximum age, in milliseconds, of a commit by a tool call that has just ended. */
const FRESH_COMMIT_MS = 10 * 60_000;
/** After this, in milliseconds, the last commit may be another; Git's own log tells which one it was then. */
const MOVED_ON_MS = 2_000;
/** Errors of a disk that takes no line of any file. */
const FULL = ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'];

/** Errors of a machine or a disk, for which the file cannot be blamed. */
const PASSING = ['EMFILE', 'ENFILE', 'ENOMEM', 'EIO'];

/** The run of a hook, as its directory tells. */
type RunOfHook = { dir: string; mux_session: string | null; session: string | null };

export type HookSpoolOptions = {
  data_dir: string;
  host: string;
  events_file: string;
  commits_file: string;
  runner: Pick<ProcessRunner, 'run'>;
  clock: Clock;
  logger: Logger;
};

/**
 * Takes what hooks leave in `<data dir>/hook-spool`, and writes the lines that follow: of the run, of the events, of the
 * commits. A file is removed once its lines are written. If the daemon was killed in between, the next one finds the lines
 * and does not write them again.
 */
export class HookSpool {
  readonly #options: HookSpoolOptions;
  readonly #folder: string;
  /** Sizes of files that were not complete: they are read again once they have grown. */
  #incomplete = new Map<string, bigint>();
  /** Some lines of the files may have been written before. */
  #unsure = true;
  #problem = '';
  #commitProblem = '';
  #dropped = 0;
  #cancels: (() => void)[] = [];
  #watched: { ino: bigint; close(): void } | null = null;
  #soon: (() => void) | null = null;
  #again: (() => void) | null = null;
  #recording: Promise<void> | null = null;

  constructor(options: HookSpoolOptions) {
    this.#options = options;
    this.#folder = join(options.data_dir, 'hook-spool');
    this.#dropped = sizeOf(this.#droppedFile);
  }

  /** Events that were dropped since the data folder was made. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Takes what is there, and from now on each event soon after its hook has ended. */
  start(): void {
    this.#logged(() => makeFolder(this.#folder));
    this.#sweep();
    this.#cancels.push(this.#options.clock.every(SWEEP_MS, () => this.#sweep()));
  }

  async stop(): Promise<void> {
    for (const cancel of this.#cancels) cancel();
    this.#soon?.();
    this.#again?.();
    this.#watched?.close();
    await this.#recording;
  }

  /** Writes the lines of all hooks that have ended. What cannot be written stays, which is logged. */
  take(): void {
    this.#logged(() => this.#takeAll());
  }

  #logged(work: () => void): void {
    const { logger } = this.#options;
    try {
      work();
      this.#problem = '';
    } catch (error) {
      this.#unsure = true;
      const problem = messageOf(error);
      const facts = { detail: problem, folder: this.#folder };
      if (problem !== this.#problem)
        logger.error(facts, 'what hooks told waits, since it cannot be recorded');
      this.#problem = problem;
    }
  }

  #sweep(): void {
    this.#logged(() => {
      this.#watch();
      this.#takeAll();
      const dropped = sizeOf(this.#droppedFile);
      if (dropped > this.#dropped)
        this.#options.logger.warn({ dropped: dropped - this.#dropped }, 'events of hooks were dropped');
      this.#dropped = dropped;
    });
  }

  /** A folder that was removed is made by the next hook: of a data folder that was replaced nothing is known here. */
  #watch(): void {
    const ino = lstatSync(this.#folder, { bigint: true, throwIfNoEntry: false })?.ino;
    if (this.#watched?.ino === ino) return;
    this.#watched?.close();
    this.#watched = null;
    if (ino === undefined) return;
    try {
      const watcher = watch(this.#folder, { persistent: false }, () => this.#takeSoon());
      watcher.on('error', () => {
        watcher.close();
        this.#watched = null;
      });
      this.#watched = { ino, close: () => watcher.close() };
    } catch {
      // Without file system events the sweep still finds every file.
    }
  }

  /** Once for all file system events of one step. */
  #takeSoon(): void {
    this.#soon ??= this.#options.clock.after(0, () => {
      this.#soon = null;
      this.take();
    });
  }

  #takeAll(): void {
    const seen = new Set(folderNames(this.#folder));
    if (seen.size === 0) return;
    // A listing may lack a file that is older than another one in it. A second listing, made later, has it.
    const files = folderNames(this.#folder)
      .flatMap((name) => this.#look(name))
      .sort(compareSpooled);
    const end = files.findLastIndex(({ name }) => seen.has(name)) + 1;
    const tails = this.#unsure ? new Map<string, string>() : null;
    let fault: unknown = null;
    for (const file of files.slice(0, end))
      if (file.stage !== 'commit') fault = this.#takeOne(file, tails, fault);
    if (files.some(({ stage }) => stage === 'commit')) this.#recordCommits();
    if (fault !== null) throw fault;
    this.#unsure = false;
  }

  #look(name: string): SpoolFile[] {
    const parsed = parseSpoolName(name);
    if (parsed === null) return [];
    const stats = lstatSync(join(this.#folder, name), { bigint: true, throwIfNoEntry: false });
    if (stats === undefined) return [];
    if (!stats.isFile()) return [];
    if (this.#incomplete.get(name) === stats.size)
      return this.#notComplete({ ...parsed, written_ns: stats.mtimeNs }, stats.size);
    return [{ ...parsed, written_ns: stats.mtimeNs }];
  }

  /** Writes the lines of one file; answers the error by which the ledger of events takes no line, null for none. */
  #takeOne(file: SpoolFile, tails: Map<string, string> | null, fault: unknown): unknown {
    if (fault !== null && file.stage === 'told') return fault;
    const read = this.#read(file);
    if (read === null) return fault;
    const { hook, text } = read;
    const at = toldAt(hook.input, atOf(file));
    const run = this.#runOf(hook);
    if (file.stage === 'new' && run !== null) this.#tellRun(run.dir, hook.input, at, tails);
    const { host, events_file } = this.#options;
    const around = { id: idOfSpooled(file, text), now: at, harness: hook.harness, host };
    const event = eventLine(hook.input, { ...around, mux_session: run?.mux_session ?? null });
    let failed = fault;
    if (event !== null && failed === null) {
      try {
        append(events_file, event, tails, ROTATE_BYTES);
      } catch (error) {
        failed = error;
      }
    }
    if (event !== null && failed !== null) this.#move(file, 'told');
    else if (mayHaveCommitted(hook.input)) {
      this.#move(file, 'commit');
      this.#recordCommits();
    } else rmSync(join(this.#folder, file.name), { force: true });
    return failed;
  }

  /** What a hook left; null if that is not complete, or nothing that can be read. */
  #read(file: SpoolFile): { hook: SpooledHook; text: string } | null {
    const path = join(this.#folder, file.name);
    try {
      const text = readRegularTextSync(path, MOST_BYTES, { follow: false });
      const hook = parseSpooled(text);
      if (hook !== null) {
        this.#incomplete.delete(file.name);
        return { hook, text };
      }
      this.#notComplete(file, BigInt(Buffer.byteLength(text)));
    } catch (error) {
      const code = systemCode(error);
      if (PASSING.includes(code ?? '')) throw error;
      if (code !== 'ENOENT') this.#drop(file);
    }
    return null;
  }

  /** Its hook may still be writing it. */
  #notComplete(file: SpoolFile, size: bigint): [] {
    const age = Math.abs(this.#options.clock.now() - atOf(file));
    if (age > HOOK_MS) this.#drop(file);
    else {
      this.#incomplete.set(file.name, size);
      if (age < SWEEP_MS)
        this.#again ??= this.#options.clock.after(AGAIN_MS, () => {
          this.#again = null;
          this.take();
        });
    }
    return [];
  }

  #drop(file: SpoolFile): void {
    this.#incomplete.delete(file.name);
    rmSync(join(this.#folder, file.name), { force: true });
    try {
      appendFileSync(this.#droppedFile, '.', { mode: 0o600 });
    } catch {
      // A full disk does not take the count either.
    }
  }

  #move(file: SpoolFile, stage: SpoolStage): void {
    if (file.stage === stage) return;
    renameSync(join(this.#folder, file.name), join(this.#folder, spoolNameAt(file, stage)));
  }

  /** The lines that the run itself records. A run directory that cannot be written delays nothing else. */
  #tellRun(dir: string, input: unknown, at: number, tails: Map<string, string> | null): void {
    const failed = failedTurnLine(input, at);
    const lines = [
      [SESSION_STARTS_FILE, sessionStartLine(input, at)],
      [PHASE_SIGNS_FILE, phaseLine(input, at)],
      [USAGE_NOTICES_FILE, failed !== null && isLimit(failed.notice) ? failed : null],
    ] as const;
    for (const [name, line] of lines) {
      if (line === null) continue;
      try {
        append(join(dir, name), line, tails);
      } catch (error) {
        if (FULL.includes(systemCode(error) ?? '')) throw error;
        this.#options.logger.warn({ err: error, dir }, 'what a hook told of a run was not recorded in it');
      }
    }
  }

  /** The run directory that the environment of the hook names, or the pane of a session that was claimed. */
  #runOf({ run_dir, tmux, pane }: SpooledHook): RunOfHook | null {
    const { data_dir } = this.#options;
    const named = run_dir.trim() !== '';
    const launch = named ? launchOf(data_dir, run_dir) : runOfClaimedPane(data_dir, tmux, pane);
    if (launch === null) return null;
    const dir = runDirectoryOf(data_dir, launch);
    if (!existsSync(dir)) return null;
    const { mux_session, session_uuid, state } = asTable(jsonOf(textAt(join(dir, RUN_FILES.manifest))));
    if (!named && (typeof state !== 'string' || state === 'ended')) return null;
    return { dir, mux_session: nameIn(mux_session), session: nameIn(session_uuid) };
  }

  /** One after the other, since each asks Git; what fails is tried again with the next sweep. */
  #recordCommits(): void {
    if (this.#recording !== null) return;
    const failed = (error: unknown) => {
      const detail = messageOf(error);
      if (detail !== this.#commitProblem)
        this.#options.logger.warn(
          { detail },
          'commits that hooks told of wait, since they cannot be recorded',
        );
      this.#commitProblem = detail;
    };
    this.#recording = this.#recordAll()
      .catch(failed)
      .finally(() => {
        this.#recording = null;
      });
  }

  async #recordAll(): Promise<void> {
    const next = () =>
      folderNames(this.#folder)
        .flatMap((name) => (parseSpoolName(name)?.stage === 'commit' ? this.#look(name) : []))
        .sort(compareSpooled)[0];
    // The file of the commit is made after this was called.
    await Promise.resolve();
    for (let file = next(); file !== undefined; file = next()) {
      const read = this.#read(file);
      const line =
        read === null ? null : await this.#commitOf(read.hook, toldAt(read.hook.input, atOf(file)));
      const { commits_file } = this.#options;
      if (line !== null && !endOfFile(commits_file, LOOK_BACK_BYTES).includes(`"sha":"${line.sha}"`))
        appendLineSync(commits_file, line);
      this.#commitProblem = '';
      rmSync(join(this.#folder, file.name), { force: true });
    }
  }

  async #commitOf(hook: SpooledHook, at: number): Promise<CommitLine | null> {
    const told = commitTold(hook.input);
    const input = asTable(hook.input);
    const cwd = told?.folder ?? nameIn(input.cwd) ?? '';
    const printed = told === null ? printedIn(input) : await this.#askGit(told.folder, at);
    const commit = printed === null ? null : parseLastCommit(printed.log);
    if (commit === null || printed === null) return null;
    const { committed_at, ...facts } = commit;
    const is_fresh = Math.abs(at - committed_at) <= FRESH_COMMIT_MS;
    if (told?.session && !is_fresh) return null;
    const run = this.#runOf(hook);
    const own = run === null ? null : (readSessionStarts(run.dir).at(-1)?.session ?? run.session);
    const session = told?.session ?? own;
    const repo = printed.top.replace(/\n$/, '');
    return { at, kind: 'commit', ...facts, repo, session, mux: run?.mux_session ?? null, cwd };
  }

  #askGit(folder: string, at: number): Promise<PrintedCommit | null> {
    const { runner, clock } = this.#options;
    const then = clock.now() - at > MOVED_ON_MS ? at : null;
    return askLastCommit(folder, then, runner, process.env);
  }

  get #droppedFile(): string {
    return join(this.#folder, 'dropped');
  }
}

/** Appends a line, unless it is at the end of the file already; `tails` are the ends of files, null if it cannot be. */
function append(path: string, line: object, tails: Map<string, string> | null, rotate_bytes?: number): void {
  if (tails !== null) {
    const tail = tails.get(path) ?? tailOf(path);
    tails.set(path, tail);
    if (tail.includes(`\n${JSON.stringify(line)}\n`)) return;
  }
  appendLineSync(path, line, rotate_bytes);
}

/** The last lines of a file and, before them, of the one that it replaced. */
function tailOf(path: string): string {
  const ends = [`${path}.1`, path].map((one) => endOfFile(one, LOOK_BACK_BYTES));
  return `\n${ends.join('\n')}`;
}

function mayHaveCommitted(input: object): boolean {
  return commitTold(input) !== null || asTable(input).hook_event_name === 'Commit';
}

function atOf({ written_ns }: SpoolFile): number {
  return Number(written_ns / 1_000_000n);
}

/** An agent may name any folder; only those of this daemon's runs are written. */
function launchOf(data_dir: string, run_dir: string): string | null {
  const launch = basename(run_dir);
  return isLaunchId(launch) && dirname(run_dir) === join(data_dir, 'runs') ? launch : null;
}

function textAt(path: string): string {
  try {
    return endOfFile(path);
  } catch {
    return '';
  }
}

/** What `svc hook commit` found. */
function printedIn({ log, top }: Table): PrintedCommit | null {
  return typeof log === 'string' && typeof top === 'string' ? { log, top } : null;
}

function nameIn(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
