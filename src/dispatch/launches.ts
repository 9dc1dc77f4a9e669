import type { ProcessIdentity } from '../platform/process-facts.ts';
import type { LaunchManifest } from './manifest.ts';

/** How a launch ended, as its run directory tells. Times are milliseconds. */
export type LaunchEnd = {
  /** Written by the run script when the agent's process ended. */
  exit: { code: number | null; signal: string | null; reason: string | null; at: number } | null;
  /** Written beforehand by whoever ended it: `handoff`, `kill`, `forced_start`. */
  end: { reason: string; at: number } | null;
};

/** The run directories, one per launch. */
export type Launches = {
  directory(launch_id: string): string;
  /** Records the claim with everything the start needs; durable when it returns. */
  claim(
    manifest: LaunchManifest,
    files: { prompt: string; script: string; extra: { name: string; text: string }[] },
  ): void;
  update(launch_id: string, change: Partial<LaunchManifest>): void;
  /** Every readable manifest that has not ended. */
  open(): LaunchManifest[];
  readEnd(launch_id: string): LaunchEnd;
  /** The agent's process, once the run script has told. */
  agent(launch_id: string): ProcessIdentity | null;
  /** Says beforehand who ends the run and why. */
  writeEnd(launch_id: string, reason: string, at: number): void;
  writeScreen(launch_id: string, text: string): void;
  readScreen(launch_id: string): string | null;
  /** Removes ended run directories past their time; returns how many. */
  sweep(now: number): number;
};
