import { appendFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { messageOf, systemCode } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import {
  meetingModeSchema,
  RECORDER_STATE_BYTES,
  type RecorderState,
  recorderStateSchema,
} from '../contract/recorder.ts';
import { mirrorSchema } from '../contract/threads/audio.ts';
import { processIdentitySchema } from '../contract/threads/recorder-session.ts';
import { removeQuietly, writeFileAtomic } from '../platform/atomic-write.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { readRegularEndSync, readRegularTextSync } from '../platform/regular-file.ts';

/** The session that every recorder runs in (CAP-3). */
export const RECORDER_SESSION = 'recorder-meeting';

/** What the daemon keeps of the meeting that it started, so that a later daemon takes it over. Times in milliseconds. */
const meetingRecordSchema = z.object({
  version: z.literal(1),
  launch: z.string(),
  /** Name of its files, without an ending. */
  name: z.string(),
  mode: meetingModeSchema,
  title: z.string(),
  started_at: z.number(),
  mirror: mirrorSchema.nullable(),
  /** The fiber that it joined. */
  fiber: z.string().nullable(),
  /** The host of its scribe; null for this one. */
  owner: z.string().nullable(),
  /** The recorder; null until it is known. */
  process: processIdentitySchema.nullable(),
  /** When it was told to stop. */
  stop_asked_at: z.number().nullable(),
});
export type MeetingRecord = z.infer<typeof meetingRecordSchema>;

/** The files of one meeting, absolute. */
export type MeetingPaths = {
  /** The lifecycle file, which the recorder writes. */
  state: string;
  transcript: string;
  audio: string;
  /** What starts the recorder. */
  script: string;
  /** What the recorder writes to standard error. */
  log: string;
};

const MOST_RECORD_BYTES = 64 * 1024;
/** Bytes that must be free for a line that is not the recorder's. */
const ROOM_FOR_LINE = 64 * 1024;
/** Bytes of a recorder's standard error that are looked at. */
const MOST_LOG_BYTES = 4 * 1024;

/** The folder of all meetings of this daemon, and the record of the one that it has now. */
export class MeetingFiles {
  readonly #folder: string;
  readonly #logger: Logger;
  /** What the disk has not taken yet. */
  #unsaved: MeetingRecord | null = null;
  /** What a recorder said last. */
  #said: RecorderState | null = null;

  constructor(options: { folder: string; logger: Logger }) {
    this.#folder = options.folder;
    this.#logger = options.logger;
  }

  get folder(): string {
    return this.#folder;
  }

  pathsOf(name: string): MeetingPaths {
    const of = (ending: string) => join(this.#folder, `${name}.${ending}`);
    return { state: of('json'), transcript: of('txt'), audio: of('wav'), script: of('sh'), log: of('log') };
  }

  /** Null where no meeting is recorded; a record that cannot be read counts as none, and its recorder goes on. */
  read(): MeetingRecord | null {
    if (this.#unsaved !== null) return this.keep(this.#unsaved);
    try {
      return meetingRecordSchema.parse(JSON.parse(readRegularTextSync(this.#current, MOST_RECORD_BYTES)));
    } catch (error) {
      if (systemCode(error) !== 'ENOENT')
        this.#logger.error({ file: this.#current, err: messageOf(error) }, 'the meeting cannot be read');
      return null;
    }
  }

  write(record: MeetingRecord): void {
    makeFolder(this.#folder);
    writeFileAtomic(this.#current, `${JSON.stringify(record, null, 2)}\n`);
    this.#unsaved = null;
  }

  /** Writes the record of a recorder that runs; while the disk does not take it, this daemon knows it, and tries again. */
  keep(record: MeetingRecord): MeetingRecord {
    const is_first = this.#unsaved === null;
    try {
      this.write(record);
    } catch (error) {
      this.#unsaved = record;
      if (is_first)
        this.#logger.error(
          { file: this.#current, err: messageOf(error) },
          'what the daemon knows of its meeting is not saved yet',
        );
    }
    return record;
  }

  /** The meeting is over; its files stay. */
  clear(): void {
    this.#unsaved = null;
    removeQuietly(this.#current);
  }

  writeScript(name: string, text: string): string {
    const { script } = this.pathsOf(name);
    makeFolder(this.#folder);
    writeFileAtomic(script, text, { mode: 0o700 });
    return script;
  }

  /**
   * Adds a line to a transcript in one write, so that it comes between two lines of the recorder. Throws the system error;
   * an almost full disk would take a part of the line, which the next one of the recorder would follow.
   */
  addLine(transcript: string, line: string): void {
    const { bavail, bsize } = statfsSync(this.#folder);
    if (bavail * bsize < ROOM_FOR_LINE)
      throw Object.assign(new Error('the disk is almost full'), { code: 'ENOSPC', syscall: 'write' });
    appendFileSync(transcript, `${line}\n`, { mode: 0o600 });
  }

  /**
   * What the recorder of a launch says of itself; null where it has said nothing yet. While its file cannot be read, what it
   * said last counts, with that fault.
   */
  recorderState(record: Pick<MeetingRecord, 'name' | 'launch'>): RecorderState | null {
    const { state: path } = this.pathsOf(record.name);
    try {
      const state = recorderStateSchema.parse(JSON.parse(readRegularTextSync(path, RECORDER_STATE_BYTES)));
      if (state.launch !== record.launch) return null;
      this.#said = state;
      return state;
    } catch (error) {
      if (systemCode(error) === 'ENOENT' || this.#said?.launch !== record.launch) return null;
      return {
        ...this.#said,
        fault: `${path} cannot be read (${systemCode(error) ?? 'it is not valid'}); look at it`,
      };
    }
  }

  /**
   * Says in the transcript that its recorder is gone, where the recorder itself did not say that it ended: whoever follows the
   * file waits for that. Throws the system error.
   */
  addEnd(transcript: string, time: string): void {
    const { bytes } = readRegularEndSync(transcript, MOST_LOG_BYTES);
    const text = bytes.toString('utf8');
    if (/^# (?:recorder )?ended /m.test(text)) return;
    const is_torn = text !== '' && !text.endsWith('\n');
    this.addLine(transcript, `${is_torn ? '\n' : ''}# recorder ended ${time}`);
  }

  /** The last line that the recorder wrote to standard error; null for none. */
  lastLogLine(name: string): string | null {
    try {
      const { bytes } = readRegularEndSync(this.pathsOf(name).log, MOST_LOG_BYTES);
      return bytes.toString('utf8').trimEnd().split('\n').at(-1)?.trim() || null;
    } catch {
      return null;
    }
  }

  get #current(): string {
    return join(this.#folder, 'current.json');
  }
}
