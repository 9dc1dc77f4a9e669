import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { RecorderState } from '../contract/recorder.ts';
import type { RecorderSession } from '../contract/threads/recorder-session.ts';
import type { ProcessIdentity, ProcessLife } from '../platform/process-facts.ts';
import { timeOfDay } from './meeting-name.ts';
import type { MeetingFiles, MeetingRecord, ReadState } from './meeting-record.ts';
import { isStopLost, type JudgedMeeting, judgeMeeting, type SeenMeeting } from './meeting-state.ts';

export type FollowedRecorderOptions = {
  files: MeetingFiles;
  /** Takes the name of the files of a meeting; rejects where nobody can tell. */
  sessions: { look(name: string): Promise<RecorderSession> };
  clock: Clock;
  /** Milliseconds of the system's clock that nobody sets, which the recorder reads too. */
  monotonic(): number;
  logger: Logger;
  lifeOf(process: ProcessIdentity): Promise<ProcessLife>;
  /** Sends SIGINT; throws where the process is gone. */
  interrupt(process: ProcessIdentity): void;
};

/** The recorder of a meeting as it is seen from outside: by what it says of itself, its process and its session. */
export class FollowedRecorder {
  readonly #in: FollowedRecorderOptions;
  /** What a recorder last said of itself. */
  #said: RecorderState | null = null;
  /** The launch whose transcript says that its recorder ended. */
  #closed: string | null = null;
  /** The launch whose recorder this daemon has seen alive. */
  #seenAlive: string | null = null;
  /** The launch whose recorder this daemon has interrupted. */
  #interrupted: string | null = null;

  constructor(options: FollowedRecorderOptions) {
    this.#in = options;
  }

  /** The state of a meeting as it is now, null for one that is over, and the socket of its recorder. */
  async judge(record: MeetingRecord): Promise<{ judged: JudgedMeeting | null; socket: string | null }> {
    const { files, clock } = this.#in;
    const first = await this.#stateOf(record);
    const life = await this.#lifeOf(record);
    if (life === 'alive') this.#seenAlive = record.launch;
    // What it wrote between the two looks is its last word.
    const { said, unreadable } = life === 'gone' ? await this.#stateOf(record) : first;
    const log = life === 'gone' ? await files.lastLogLine(record.name) : null;
    const full = (await files.isFull()) ? files.folder : null;
    await this.#sendLostStop(record, { file: said, life });
    const judged = judgeMeeting(record, { file: said, unreadable, full, life, log, now: clock.now() });
    // One that says that it failed may still write what waits.
    if (judged?.state === 'failed' && life === 'gone') await this.#closeTranscript(record);
    return { judged, socket: said?.phone ?? null };
  }

  /** Tells it to stop; the record of the meeting that keeps this is written before. */
  async stop(record: MeetingRecord): Promise<MeetingRecord> {
    const process = await this.#processOf(record);
    const stopped = { ...record, process, stop_asked_at: this.#in.clock.now() };
    this.#in.files.keep(stopped);
    if (process !== null) this.#interrupt(stopped, process);
    return stopped;
  }

  /** Now, as the recorder of a meeting counts it: a clock that is set during a meeting moves no line. */
  transcriptTime({ launch }: MeetingRecord): number {
    const base = this.#said?.launch === launch ? this.#said.time_base : null;
    const passed = base == null ? -1 : this.#in.monotonic() - base.monotonic;
    return base == null || passed < 0 ? this.#in.clock.now() : base.wall + passed;
  }

  async #sendLostStop(record: MeetingRecord, seen: Pick<SeenMeeting, 'file' | 'life'>): Promise<void> {
    const is_lost = () =>
      isStopLost(record, {
        ...seen,
        now: this.#in.clock.now(),
        sent: this.#interrupted === record.launch,
      });
    if (!is_lost()) return;
    const process = await this.#processOf(record);
    // Another look may have sent it meanwhile.
    if (process !== null && is_lost()) this.#interrupt(record, process);
  }

  #interrupt({ launch }: MeetingRecord, process: ProcessIdentity): void {
    try {
      this.#in.interrupt(process);
      this.#interrupted = launch;
    } catch (error) {
      this.#in.logger.warn({ err: messageOf(error) }, 'the recorder was gone when it was told to stop');
    }
  }

  async #closeTranscript(record: MeetingRecord): Promise<void> {
    const { launch, name } = record;
    if (this.#closed === launch) return;
    const { files } = this.#in;
    try {
      const { transcript } = files.pathsOf(name);
      // It may have ended while no daemon was there; then its files tell when.
      const ended_at = this.#seenAlive === launch ? null : await files.lastWrite(name);
      const at = timeOfDay(ended_at ?? this.transcriptTime(record));
      await files.closeTranscript(transcript, `# recorder ended ${at} without its last lines`);
      this.#closed = launch;
    } catch {
      // The next look tries again, and the row says the same meanwhile.
    }
  }

  /** What the recorder says of itself; while that cannot be read or is gone, what it said last. */
  async #stateOf(record: MeetingRecord): Promise<ReadState> {
    const { said, unreadable } = await this.#in.files.recorderState(record);
    if (said !== null) this.#said = said;
    const last = this.#said?.launch === record.launch ? this.#said : null;
    if (said !== null || last === null) return { said, unreadable };
    return { said: last, unreadable: unreadable ?? 'it is gone' };
  }

  async #lifeOf(record: MeetingRecord): Promise<ProcessLife> {
    const process = await this.#processOf(record);
    if (process !== null) return this.#in.lifeOf(process);
    const session = await this.#lookAtSession(record);
    return session.kind === 'there' ? 'alive' : session.kind;
  }

  /** As it was started; where a daemon ended before it had written that down, as its own file or its session tell. */
  async #processOf(record: MeetingRecord): Promise<ProcessIdentity | null> {
    if (record.process !== null) return record.process;
    const { said } = await this.#stateOf(record);
    if (said !== null && said.process_started !== null)
      return { pid: said.pid, start_time: said.process_started };
    const session = await this.#lookAtSession(record);
    return session.kind === 'there' ? session.process : null;
  }

  #lookAtSession({ name }: MeetingRecord): Promise<RecorderSession> {
    return this.#in.sessions
      .look(name)
      .catch((error: unknown) => ({ kind: 'unknown' as const, detail: messageOf(error) }));
  }
}
