import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { HARNESS_NAMES } from '../../contract/harness-name.ts';
import type { LaunchPlan } from '../../harness/adapter.ts';
import { writeFileAtomic } from '../../platform/atomic-write.ts';
import { folderNames } from '../../platform/folder-names.ts';
import { READ_LIMITS } from '../../platform/read-limits.ts';
import { readRegularTextSync } from '../../platform/regular-file.ts';
import { type ClaimedPane, writeClaimedPane } from './claimed-panes.ts';
import { makeRunDirectory, RUN_FILES, runDirectoryOf, writeManifest } from './run-directory.ts';
import { type AgentPid, appRecordSchema, type RunManifest } from './run-records.ts';

/**
 * A capture has a run directory like any start, with `capture.json` in place of `run.json`: the manifest is
 * written when a fiber is claimed for it, and makes it an ordinary run. Times in ms since the Unix epoch.
 */
const CAPTURE_FILE = 'capture.json';
/** The text as it was sent, to be captured again. */
const TEXT_FILE = 'text.md';

const captureRecordSchema = z.object({
  version: z.literal(1),
  launch_id: z.string().min(1),
  run_id: z.string().min(1),
  mux_session: z.string().min(1),
  agent: z.string().min(1),
  harness: z.enum(HARNESS_NAMES),
  /** Null while the harness has not told the id it assigned. */
  session_uuid: z.string().nullable(),
  project_dir: z.string().min(1),
  store: z.string().min(1),
  captured_at: z.number(),
  /** `claimed`: written before anything was started; `started`: the session was seen. */
  state: z.enum(['claimed', 'spawned', 'ended']),
  ended_at: z.number().nullable(),
  ended_reason: z.string().nullable(),
  boot_id: z.string().nullable(),
  /** The effort that was asked for; the text is beside the record then. */
  asked: z.object({ effort: z.string().nullable() }).optional(),
  /** A person took it off the list. */
  dismissed: z.literal(true).optional(),
  /** Present on the app surface; no multiplexer session then has the name in `mux_session`. */
  app: appRecordSchema.optional(),
});
export type CaptureRecord = z.infer<typeof captureRecordSchema>;

/** Writes everything the start of a capture needs, its record last; durable when it returns. */
export function writeCapture(
  data_dir: string,
  capture: {
    record: CaptureRecord;
    text: string;
    prompt: string;
    script?: string;
    files: LaunchPlan['files'];
  },
): void {
  const { record, text, ...rest } = capture;
  const texts = { ...rest, files: [...rest.files, { name: TEXT_FILE, text }] };
  makeRunDirectory(data_dir, record.launch_id, texts, (dir) => writeRecord(dir, record));
}

/** The file with the text of a capture; null for one that was recorded without it. */
export function captureTextFile(dir: string, { asked }: CaptureRecord): string | null {
  return asked === undefined ? null : join(dir, TEXT_FILE);
}

/** Changes some fields of the record. */
export function updateCapture(
  data_dir: string,
  record: CaptureRecord,
  change: Partial<
    Pick<CaptureRecord, 'state' | 'session_uuid' | 'ended_at' | 'ended_reason' | 'dismissed' | 'app'>
  >,
): CaptureRecord {
  const changed = { ...record, ...change };
  writeRecord(runDirectoryOf(data_dir, record.launch_id), changed);
  return changed;
}

/** Captures that no fiber was claimed for, oldest first. What cannot be read is none. */
export function listCaptures(data_dir: string): CaptureRecord[] {
  const names = folderNames(join(data_dir, 'runs')).sort();
  return names.flatMap((name) => {
    const dir = join(data_dir, 'runs', name);
    if (existsSync(join(dir, RUN_FILES.manifest))) return [];
    const record = readRecord(dir);
    return record?.launch_id === name ? [record] : [];
  });
}

/** Removes a capture and all that was written for it. */
export function removeCapture(data_dir: string, launch_id: string): void {
  rmSync(runDirectoryOf(data_dir, launch_id), { recursive: true, force: true });
}

/** Removes a capture that is too old to be of use; one that cannot be removed stays, which is logged. */
export function discardCapture(data_dir: string, launch_id: string, logger: Logger): void {
  try {
    removeCapture(data_dir, launch_id);
  } catch (error) {
    logger.warn({ launch: launch_id, detail: messageOf(error) }, 'an old capture could not be removed');
  }
}

/** Makes the capture the run of a fiber; durable when it returns. */
export function bindCapture(data_dir: string, manifest: RunManifest): void {
  writeManifest(runDirectoryOf(data_dir, manifest.launch_id), manifest);
}

/** Takes the binding back: the capture is unclaimed again. */
export function unbindCapture(data_dir: string, launch_id: string): void {
  rmSync(join(runDirectoryOf(data_dir, launch_id), RUN_FILES.manifest), { force: true });
}

/** The run directory of a session that a person started: its manifest and its agent, with no start to make. */
export function writeForeignRun(
  data_dir: string,
  manifest: RunManifest,
  { process, pane }: { process: AgentPid; pane: ClaimedPane | null },
): void {
  makeRunDirectory(data_dir, manifest.launch_id, { files: [] }, (dir) => {
    writeFileAtomic(join(dir, RUN_FILES.agent_pid), `${JSON.stringify(process)}\n`, { mode: 0o600 });
    if (pane !== null) writeClaimedPane(data_dir, pane, manifest.launch_id);
    writeManifest(dir, manifest);
  });
}

function writeRecord(dir: string, record: CaptureRecord): void {
  const text = `${JSON.stringify(captureRecordSchema.parse(record), null, 2)}\n`;
  writeFileAtomic(join(dir, CAPTURE_FILE), text, { mode: 0o600 });
}

function readRecord(dir: string): CaptureRecord | null {
  try {
    const parsed = captureRecordSchema.safeParse(
      JSON.parse(readRegularTextSync(join(dir, CAPTURE_FILE), READ_LIMITS.run_file)),
    );
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
