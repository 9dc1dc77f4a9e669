import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { CodedError, messageOf, systemCode } from '../../base/errors.ts';
import { syncFolder, writeFileAtomic } from '../../platform/atomic-write.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { READ_LIMITS } from '../../platform/read-limits.ts';
import { readRegularTextSync } from '../../platform/regular-file.ts';
import {
  type AgentPid,
  agentPidSchema,
  type EndRecord,
  type ExitRecord,
  endRecordSchema,
  exitRecordSchema,
  type FileRead,
  type RunManifest,
  runManifestSchema,
} from './run-records.ts';

/** Names inside a run directory. */
export const RUN_FILES = {
  manifest: 'run.json',
  prompt: 'prompt.md',
  script: 'run.sh',
  /** The script was started. */
  started: 'started',
  agent_pid: 'agent.pid',
  exit: 'exit.json',
  end: 'end.json',
  screen: 'screen.txt',
  /** What the set-up of a new git worktree printed. */
  setup: 'setup.txt',
  /** Path of the memory group that the agent entered, and what the shell said when there was none. */
  memory_group: 'memory.group',
  memory_error: 'memory.error',
} as const;

const OURS = new Set<string>(Object.values(RUN_FILES));

/** What `listRuns` found under one name. */
export type RunEntry =
  | { kind: 'run'; dir: string; manifest: RunManifest }
  | { kind: 'unreadable'; dir: string; detail: string };

/** Whether a text that others may have written can name a run directory. */
export function isLaunchId(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(text);
}

/** The directory of one start: `<data dir>/runs/<launch id>`. */
export function runDirectoryOf(data_dir: string, launch_id: string): string {
  if (!isLaunchId(launch_id)) {
    throw new CodedError('internal', `${JSON.stringify(launch_id)} cannot name a run directory.`);
  }
  return join(data_dir, 'runs', launch_id);
}

/**
 * Claims a start: makes its directory (0700) and writes the prompt (0600), the adapter's files (0600), the
 * script (0700) and, last of all, the manifest. When it returns, a crash cannot lose the claim. Throws
 * `already_exists` for a launch id that was used before.
 */
export function claimRun(
  data_dir: string,
  claim: {
    manifest: RunManifest;
    prompt: string;
    /** Absent where no process of ours is started. */
    script?: string;
    files: { name: string; text: string }[];
  },
): string {
  const manifest = runManifestSchema.parse(claim.manifest);
  return makeRunDirectory(data_dir, manifest.launch_id, claim, (dir) => writeManifest(dir, manifest));
}

/**
 * Makes the directory of one start (0700) with the texts its start needs, and lets `finish` write what makes it
 * count. Throws `already_exists` for a launch id that was used before.
 */
export function makeRunDirectory(
  data_dir: string,
  launch_id: string,
  texts: { prompt?: string; script?: string; files: { name: string; text: string }[] },
  finish: (dir: string) => void,
): string {
  const dir = runDirectoryOf(data_dir, launch_id);
  for (const { name } of texts.files) {
    if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name) || OURS.has(name)) {
      throw new CodedError('internal', `${JSON.stringify(name)} cannot name a file of a run directory.`);
    }
  }
  const runs = join(data_dir, 'runs');
  makeFolder(runs);
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    throw new CodedError('already_exists', `The launch ${launch_id} was claimed before.`);
  }
  // Only the session about to start reads these, and a crash of the machine ends that session too.
  const passing = { mode: 0o600, durable: false };
  try {
    for (const { name, text } of texts.files) writeFileAtomic(join(dir, name), text, passing);
    if (texts.prompt !== undefined) writeFileAtomic(join(dir, RUN_FILES.prompt), texts.prompt, passing);
    if (texts.script !== undefined)
      writeFileAtomic(join(dir, RUN_FILES.script), texts.script, { ...passing, mode: 0o700 });
    finish(dir);
    syncFolder(runs);
  } catch (error) {
    // On a full disk this makes the room that it took.
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
  return dir;
}

/** Changes some fields of the manifest and gives the whole; throws `not_found` when it cannot be read. */
export function updateRun(
  dir: string,
  change: Partial<
    Pick<
      RunManifest,
      | 'state'
      | 'mux_session'
      | 'session_uuid'
      | 'ended_at'
      | 'confirmed'
      | 'death'
      | 'undo'
      | 'left_sessions'
      | 'work_tree'
      | 'nudged_at'
      | 'owes_fresh_start'
      | 'end_reason'
      | 'fiber_closed'
      | 'fiber'
      | 'path'
      | 'store'
      | 'app'
      | 'server'
    >
  >,
): RunManifest {
  const before = readManifest(dir);
  if (before.kind !== 'found') {
    throw new CodedError('not_found', `There is no readable run in ${dir}.`, { details: { ...before } });
  }
  const manifest = { ...before.value, ...change };
  // These may be lost with the machine: a claim with a session reads the same as a started run, a machine that starts
  // again has another server, and no worker of before.
  const passing = change.state === 'spawned' || change.server !== undefined || change.confirmed === true;
  writeManifest(dir, manifest, !passing);
  return manifest;
}

/** Every run directory in start order of its name; a folder without a manifest is an unfinished claim. */
export function listRuns(data_dir: string): RunEntry[] {
  const runs = join(data_dir, 'runs');
  let names: string[];
  try {
    names = readdirSync(runs, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
  return names.map((name): RunEntry => {
    const dir = join(runs, name);
    const read = readManifest(dir);
    if (read.kind === 'none') return { kind: 'unreadable', dir, detail: 'it has no run.json' };
    if (read.kind === 'unknown') return { kind: 'unreadable', dir, detail: read.detail };
    if (read.value.launch_id !== name) {
      return { kind: 'unreadable', dir, detail: 'its run.json belongs to another launch' };
    }
    return { kind: 'run', dir, manifest: read.value };
  });
}

export function readManifest(dir: string): FileRead<RunManifest> {
  return readRecord(join(dir, RUN_FILES.manifest), runManifestSchema);
}

export function readAgentPid(dir: string): FileRead<AgentPid> {
  return readRecord(join(dir, RUN_FILES.agent_pid), agentPidSchema);
}

/** How much later than the second that it names the file of an exit can have been written. */
const EXIT_WRITTEN_WITHIN_MS = 2_000;

/** Not every `date` tells more than the second, so the milliseconds are those of the file that the run script wrote. */
export function readExit(dir: string): FileRead<ExitRecord> {
  const path = join(dir, RUN_FILES.exit);
  const read = readRecord(path, exitRecordSchema);
  if (read.kind !== 'found' || read.value.at % 1_000 !== 0) return read;
  const written_at = Math.floor(statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  const after = written_at - read.value.at;
  return after > 0 && after < EXIT_WRITTEN_WITHIN_MS
    ? { kind: 'found', value: { ...read.value, at: written_at } }
    : read;
}

export function readEnd(dir: string): FileRead<EndRecord> {
  return readRecord(join(dir, RUN_FILES.end), endRecordSchema);
}

/** Records who is about to end the run; the first to say so is kept. */
export function recordEnd(dir: string, end: EndRecord): void {
  if (readEnd(dir).kind === 'found') return;
  writeFileAtomic(join(dir, RUN_FILES.end), `${JSON.stringify(end)}\n`, { mode: 0o600 });
}

/** Takes back who was about to end the run, where it was for this reason: the run goes on. */
export function withdrawEnd(dir: string, reason: string): void {
  const end = readEnd(dir);
  if (end.kind === 'found' && end.value.reason === reason) rmSync(join(dir, RUN_FILES.end), { force: true });
}

/** Keeps the last that was seen on the worker's screen. */
export function writeScreen(dir: string, text: string): void {
  writeFileAtomic(join(dir, RUN_FILES.screen), text, { mode: 0o600 });
}

/** Writes `run.json`, which makes the directory a run's. */
export function writeManifest(dir: string, manifest: RunManifest, durable = true): void {
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  writeFileAtomic(join(dir, RUN_FILES.manifest), text, { mode: 0o600, durable });
}

function readRecord<T>(path: string, schema: z.ZodType<T>): FileRead<T> {
  let text: string;
  try {
    text = readRegularTextSync(path, READ_LIMITS.run_file);
  } catch (error) {
    return systemCode(error) === 'ENOENT' ? { kind: 'none' } : { kind: 'unknown', detail: messageOf(error) };
  }
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    if (parsed.success) return { kind: 'found', value: parsed.data };
    return { kind: 'unknown', detail: `${path} does not have the expected form` };
  } catch {
    return { kind: 'unknown', detail: `${path} is not JSON` };
  }
}
