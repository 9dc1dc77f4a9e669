import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { LaunchPlan } from '../harness/adapter.ts';
import {
  claimRun,
  listRuns,
  RUN_FILES,
  readAgentPid,
  readEnd,
  readExit,
  recordEnd,
  runDirectoryOf,
  updateRun,
  writeScreen,
} from './run-directory.ts';
import type { AgentPid, EndRecord, ExitRecord, FileRead, RunManifest } from './run-records.ts';

/** How a launch ended, as its run directory tells. */
export type LaunchEnd = { exit: FileRead<ExitRecord>; end: FileRead<EndRecord> };

/** The run directories of one data dir, by launch id. */
export class Launches {
  readonly #data_dir: string;
  readonly #logger: Logger;

  constructor(options: { data_dir: string; logger: Logger }) {
    this.#data_dir = options.data_dir;
    this.#logger = options.logger;
  }

  directory(launch_id: string): string {
    return runDirectoryOf(this.#data_dir, launch_id);
  }

  /** Records the claim with everything the start needs; durable when it returns. */
  claim(claim: { manifest: RunManifest; prompt: string; script: string; files: LaunchPlan['files'] }): void {
    claimRun(this.#data_dir, claim);
  }

  /** Brings the manifest up to date; what cannot be written is told in the log and found again at the next start. */
  update(launch_id: string, change: Parameters<typeof updateRun>[1]): void {
    try {
      updateRun(this.directory(launch_id), change);
    } catch (error) {
      this.#logger.warn({ err: error, launch: launch_id }, 'a run directory could not be brought up to date');
    }
  }

  /** Every readable launch that is not known to have ended. */
  open(): RunManifest[] {
    const manifests: RunManifest[] = [];
    for (const entry of listRuns(this.#data_dir)) {
      if (entry.kind === 'run' && entry.manifest.state !== 'ended') manifests.push(entry.manifest);
    }
    return manifests;
  }

  readEnd(launch_id: string): LaunchEnd {
    const dir = this.directory(launch_id);
    return { exit: readExit(dir), end: readEnd(dir) };
  }

  /** The agent's process, once the run script has told. */
  agent(launch_id: string): FileRead<AgentPid> {
    return readAgentPid(this.directory(launch_id));
  }

  /** Says beforehand who ends the run and why. */
  writeEnd(launch_id: string, reason: string, at: number): void {
    try {
      recordEnd(this.directory(launch_id), { reason, at });
    } catch (error) {
      this.#logger.warn({ err: error, launch: launch_id, reason }, 'the end of a run could not be recorded');
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
      return readFileSync(join(this.directory(launch_id), RUN_FILES.screen), 'utf8');
    } catch (error) {
      if (systemCode(error) !== 'ENOENT')
        this.#logger.warn({ err: error, launch: launch_id }, 'the screen of a worker could not be read');
      return null;
    }
  }
}
