import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { systemCode } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { LaunchPlan } from '../../harness/adapter.ts';
import { READ_LIMITS } from '../../platform/read-limits.ts';
import { readRegularTextSync } from '../../platform/regular-file.ts';
import { pruneClaimedPanes } from './claimed-panes.ts';
import type { HookSpool } from './hook-spool.ts';
import { type PhaseSign, phaseSignsMark, readPhaseSigns } from './phase-signs.ts';
import type { RunEntry } from './run-directory.ts';
import {
  claimRun,
  isLaunchId,
  listRuns,
  RUN_FILES,
  readAgentPid,
  readEnd,
  readExit,
  readManifest,
  recordEnd,
  runDirectoryOf,
  updateRun,
  withdrawEnd,
  writeScreen,
} from './run-directory.ts';
import type { AgentPid, EndRecord, ExitRecord, FileRead, RunManifest } from './run-records.ts';
import { readSessionStarts, type SessionStart } from './session-starts.ts';
import { readUsageNoticeOf, type UsageNotice } from './usage-notices.ts';

/** How a start ended, as its run directory tells. */
export type RecordedEnd = { exit: FileRead<ExitRecord>; end: FileRead<EndRecord> };

/** Most characters of a kept screen that are shown; the last ones show why a worker died. */
const MOST_SCREEN = 8_000;

/** The run directories of one data dir, by launch id. */
export class RunDirectories {
  readonly #data_dir: string;
  readonly #logger: Logger;
  /** What hooks told before an agent ended is taken before its run is judged. */
  readonly #hooks: Pick<HookSpool, 'take'> | undefined;
  /** Agents of open starts: what the run script wrote of them never changes. */
  #agents = new Map<string, FileRead<AgentPid>>();

  constructor(options: { data_dir: string; logger: Logger; hooks?: Pick<HookSpool, 'take'> }) {
    this.#hooks = options.hooks;
    this.#data_dir = options.data_dir;
    this.#logger = options.logger;
  }

  directory(launch_id: string): string {
    return runDirectoryOf(this.#data_dir, launch_id);
  }

  /** The file that holds the message which the start begins with. */
  promptFile(launch_id: string): string {
    return join(this.directory(launch_id), RUN_FILES.prompt);
  }

  /** Records the claim with everything the start needs; durable when it returns. */
  claim(claim: { manifest: RunManifest; prompt: string; script?: string; files: LaunchPlan['files'] }): void {
    claimRun(this.#data_dir, claim);
  }

  /** Updates the manifest; a failed write is logged, and repaired at the next start. */
  update(launch_id: string, change: Parameters<typeof updateRun>[1]): void {
    if (change.state === 'ended') this.#agents.delete(launch_id);
    try {
      updateRun(this.directory(launch_id), change);
    } catch (error) {
      this.#logger.warn({ err: error, launch: launch_id }, 'a run directory could not be brought up to date');
    }
  }

  /** The message that the start begins with; null when it cannot be read. */
  readPrompt(launch_id: string): string | null {
    try {
      return readRegularTextSync(this.promptFile(launch_id), READ_LIMITS.run_file);
    } catch {
      return null;
    }
  }

  manifest(launch_id: string): FileRead<RunManifest> {
    return readManifest(this.directory(launch_id));
  }

  /** Every readable start, in the order of their starts. */
  all(): RunManifest[] {
    return listRuns(this.#data_dir).flatMap((entry) => (entry.kind === 'run' ? [entry.manifest] : []));
  }

  readEnd(launch_id: string): RecordedEnd {
    const dir = this.directory(launch_id);
    return { exit: readExit(dir), end: readEnd(dir) };
  }

  /** The agent's process, once the run script has told. */
  agent(launch_id: string): FileRead<AgentPid> {
    const known = this.#agents.get(launch_id);
    if (known !== undefined) return known;
    const read = readAgentPid(this.directory(launch_id));
    if (read.kind === 'found') this.#agents.set(launch_id, read);
    return read;
  }

  /** The session starts that hooks reported for a start, oldest first. */
  sessionStarts(launch_id: string): SessionStart[] {
    this.#hooks?.take();
    try {
      return readSessionStarts(this.directory(launch_id));
    } catch (error) {
      this.#logger.warn({ err: error, launch: launch_id }, 'the session starts of a run could not be read');
      return [];
    }
  }

  /** Changes with the file that hooks tell phases in; null where there is none yet, or it cannot be looked at. */
  phaseMark(launch_id: string): string | null {
    return phaseSignsMark(this.directory(launch_id));
  }

  /** What hooks told last of the phases of a start, oldest first. */
  phaseSigns(launch_id: string): PhaseSign[] {
    try {
      return readPhaseSigns(this.directory(launch_id));
    } catch (error) {
      this.#logger.warn({ err: error, launch: launch_id }, 'the phase of a run could not be read');
      return [];
    }
  }

  /** The newest usage limit notice that hooks reported for a start. */
  usageNotice(launch_id: string): UsageNotice | null {
    this.#hooks?.take();
    try {
      return readUsageNoticeOf(this.directory(launch_id));
    } catch (error) {
      this.#logger.warn({ err: error, launch: launch_id }, 'the usage limits of a run could not be read');
      return null;
    }
  }

  /** Records in advance who ends the run and why. */
  writeEnd(launch_id: string, reason: string, at: number): void {
    try {
      recordEnd(this.directory(launch_id), { reason, at });
    } catch (error) {
      this.#logger.warn({ err: error, launch: launch_id, reason }, 'the end of a run could not be recorded');
    }
  }

  /**
   * Takes back the record that a forced start ends this run: that start failed, and how the run really ends later is
   * independent. A recorded kill stays, whenever it takes effect.
   */
  withdrawForcedStart(launch_id: string): void {
    try {
      withdrawEnd(this.directory(launch_id), 'forced_start');
    } catch (error) {
      this.#logger.warn({ err: error, launch: launch_id }, 'the end of a run could not be taken back');
    }
  }

  writeScreen(launch_id: string, text: string): void {
    try {
      writeScreen(this.directory(launch_id), text);
    } catch (error) {
      this.#logger.warn({ err: error, launch: launch_id }, 'the screen of a worker could not be kept');
    }
  }

  /** The last that was seen on the worker's screen; null when nothing was kept. */
  readScreen(launch_id: string): string | null {
    try {
      const path = join(this.directory(launch_id), RUN_FILES.screen);
      const text = readRegularTextSync(path, READ_LIMITS.run_file).trimEnd();
      return text === '' ? null : text.slice(-MOST_SCREEN);
    } catch (error) {
      if (systemCode(error) !== 'ENOENT')
        this.#logger.warn({ err: error, launch: launch_id }, 'the screen of a worker could not be read');
      return null;
    }
  }

  /** Removes the directories of ended runs that exceed the limits; returns how many. */
  prune(now: number): number {
    try {
      const expired = selectExpiredRuns(listRuns(this.#data_dir), now);
      removeRuns(expired);
      for (const dir of expired) this.#agents.delete(basename(dir));
      pruneClaimedPanes(this.#data_dir, launchIn);
      return expired.length;
    } catch (error) {
      this.#logger.warn({ err: error }, 'old run directories could not be removed');
      return 0;
    }
  }
}

function launchIn(path: string): string | null {
  const text = readRegularTextSync(path, READ_LIMITS.run_file).trim();
  return isLaunchId(text) ? text : null;
}

/** How many ended runs are kept, and how long, in milliseconds; a run over either bound is removed. */
export type RunRetention = { most: number; max_age_ms: number };

export const DEFAULT_RETENTION: RunRetention = { most: 200, max_age_ms: 14 * 24 * 60 * 60 * 1000 };

/** The directories to remove: only ended runs, never one that may be alive or cannot be read. */
export function selectExpiredRuns(
  entries: readonly RunEntry[],
  now: number,
  retention: RunRetention = DEFAULT_RETENTION,
): string[] {
  const ended = entries
    .filter((entry) => entry.kind === 'run')
    .filter((entry) => entry.manifest.state === 'ended')
    .map(({ dir, manifest }) => ({ dir, at: manifest.ended_at ?? manifest.dispatched_at }))
    .sort((a, b) => b.at - a.at);
  return ended
    .filter((run, rank) => rank >= retention.most || now - run.at > retention.max_age_ms)
    .map((run) => run.dir);
}

/** Removes what `selectExpiredRuns` chose. */
export function removeRuns(dirs: readonly string[]): void {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
}
