import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { CodedError, messageOf, systemCode } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { Mutex } from '../base/mutex.ts';
import {
  meetingModeSchema,
  RECORDER_STATE_BYTES,
  type RecorderState,
  recorderStateSchema,
} from '../contract/recorder.ts';
import { mirrorSchema } from '../contract/threads/audio.ts';
import { processIdentitySchema } from '../contract/threads/recorder-session.ts';
import { appendText } from '../platform/append-text.ts';
import { removeQuietly, writeFileAtomic } from '../platform/atomic-write.ts';
import { requireAnswer, statForeign } from '../platform/foreign-paths.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { readRegularEnd, readRegularText, readRegularTextSync } from '../platform/regular-file.ts';
import { transcriptTail } from './transcript-tail.ts';

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
  /** Its uid. */
  fiber_uid: z.string().nullable().default(null),
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

/** The lifecycle file as it was read: null where nothing of that launch is there, or nothing readable, and why. */
export type ReadState = { said: RecorderState | null; unreadable: string | null };

/** Longest reason why a lifecycle file cannot be read, in characters. */
const MOST_REASON_CHARS = 300;
const MOST_RECORD_BYTES = 64 * 1024;
/** Bytes that must be free for a line that is not the recorder's. */
const ROOM_FOR_LINE = 64 * 1024;
/** Bytes of the end of a transcript, or of a recorder's standard error, that are looked at. */
const MOST_LOG_BYTES = 4 * 1024;

/** How the last line of a transcript begins: the recorder's own, and the one of a daemon whose recorder died. */
const LAST_LINES = ['# ended ', '# recorder ended '];

/**
 * The folder of all meetings of this daemon, and the record of the one that it has now. What is read and written while audio
 * passes through this thread never blocks it. The record is written as a meeting starts and ends.
 */
export class MeetingFiles {
  readonly #folder: string;
  readonly #logger: Logger;
  /** One at a time: a disk that does not answer holds one thread of this process, however often it is asked. */
  readonly #disk = new Mutex();
  /** What the disk has not taken yet. */
  #unsaved: MeetingRecord | null = null;
  /** The record as it is on disk; undefined until it was read. Nobody else writes it. */
  #saved: MeetingRecord | null | undefined;

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
    if (this.#saved === undefined) this.#saved = this.#readSaved();
    return this.#saved ?? null;
  }

  /** Undefined where it cannot be read now, so that it is tried again. */
  #readSaved(): MeetingRecord | null | undefined {
    try {
      return meetingRecordSchema.parse(JSON.parse(readRegularTextSync(this.#current, MOST_RECORD_BYTES)));
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return null;
      this.#logger.error({ file: this.#current, err: messageOf(error) }, 'the meeting cannot be read');
      return undefined;
    }
  }

  write(record: MeetingRecord): void {
    makeFolder(this.#folder);
    writeFileAtomic(this.#current, `${JSON.stringify(record, null, 2)}\n`);
    this.#unsaved = null;
    this.#saved = record;
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
    this.#saved = null;
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
  addLine(transcript: string, line: string): Promise<void> {
    return this.#disk.run(() => this.#append(transcript, line));
  }

  /**
   * Says in the transcript that the recorder ended without its last line, which nobody else can say then; once, and not
   * where no transcript is. Throws as `addLine` does.
   */
  closeTranscript(transcript: string, line: string): Promise<void> {
    return this.#disk.run(async () => {
      const text = await endOf(transcript);
      if (text === null) return;
      const last = text.trimEnd().split('\n').at(-1) ?? '';
      if (LAST_LINES.some((beginning) => last.startsWith(beginning)) && text.endsWith('\n')) return;
      await this.#append(transcript, line);
    });
  }

  /** What the recorder of a launch says of itself. */
  recorderState(record: Pick<MeetingRecord, 'name' | 'launch'>): Promise<ReadState> {
    return this.#disk.run(async () => {
      try {
        const text = await readRegularText(this.pathsOf(record.name).state, RECORDER_STATE_BYTES);
        const state = recorderStateSchema.parse(JSON.parse(text));
        return { said: state.launch === record.launch ? state : null, unreadable: null };
      } catch (error) {
        return { said: null, unreadable: systemCode(error) === 'ENOENT' ? null : whyUnreadable(error) };
      }
    });
  }

  /** Whether the disk has no room for a line; false where it does not tell. */
  isFull(): Promise<boolean> {
    return this.#disk.run(() => this.#isFull()).catch(() => false);
  }

  /** The last line that the recorder wrote to standard error; null for none. */
  async lastLogLine(name: string): Promise<string | null> {
    const text = await this.#disk.run(() => endOf(this.pathsOf(name).log)).catch(() => null);
    return text?.trimEnd().split('\n').at(-1)?.trim() || null;
  }

  /** When its audio or its transcript was last written, in milliseconds since the Unix epoch; null where neither is there. */
  lastWrite(name: string): Promise<number | null> {
    const { audio, transcript } = this.pathsOf(name);
    return this.#disk.run(async () => {
      const times = await Promise.all([audio, transcript].map((path) => statForeign(path).catch(() => null)));
      const written = times.flatMap((one) => (one === null ? [] : [one.mtimeMs]));
      return written.length === 0 ? null : Math.max(...written);
    });
  }

  /** The last spoken lines of a meeting. */
  tail(name: string): Promise<string[]> {
    return this.#disk.run(() => transcriptTail(this.pathsOf(name).transcript));
  }

  async #append(transcript: string, line: string): Promise<void> {
    if (await this.#isFull())
      throw Object.assign(new Error('the disk is almost full'), { code: 'ENOSPC', syscall: 'write' });
    // It ends a line that was torn by the end of the recorder first.
    try {
      await appendText(transcript, `${line}\n`);
    } catch (error) {
      if (systemCode(error) !== 'EISDIR') throw error;
      throw new CodedError(
        'storage_unavailable',
        `${transcript} cannot be written: a folder is in its place; the line was not added; move the folder away and try again`,
        { details: { path: transcript }, cause: error },
      );
    }
  }

  async #isFull(): Promise<boolean> {
    await requireAnswer(this.#folder);
    const { bavail, bsize } = await statfs(this.#folder);
    return bavail * bsize < ROOM_FOR_LINE;
  }

  get #current(): string {
    return join(this.#folder, 'current.json');
  }
}

/** The last bytes of a file as text; null where there is none. */
async function endOf(path: string): Promise<string | null> {
  try {
    return (await readRegularEnd(path, MOST_LOG_BYTES)).bytes.toString('utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function whyUnreadable(error: unknown): string {
  const why = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
  return why.replaceAll(/\s+/g, ' ').slice(0, MOST_REASON_CHARS);
}
