import { type Clock, sleep } from '../base/clock.ts';
import { CodedError, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { Mutex } from '../base/mutex.ts';
import { shellLine } from '../base/shell-word.ts';
import type { Meeting } from '../contract/http/meeting.ts';
import { type Rehearsal, rehearsal } from '../contract/http/rehearsal.ts';
import type { MeetingMode, RecorderState } from '../contract/recorder.ts';
import type {
  Marked,
  Mirror,
  RehearsedMeeting,
  ScribePlace,
  StartMeeting,
} from '../contract/threads/audio.ts';
import type { RecorderSession, RecorderStarted } from '../contract/threads/recorder-session.ts';
import type { ProcessIdentity, ProcessLife } from '../platform/process-facts.ts';
import { nameOf, timeOfDay, titleOf } from './meeting-name.ts';
import { type MeetingFiles, type MeetingRecord, RECORDER_SESSION, type ReadState } from './meeting-record.ts';
import { isStopLost, type JudgedMeeting, judgeMeeting, type SeenMeeting } from './meeting-state.ts';
import {
  type FoundRecorder,
  mirrorPath,
  modesOf,
  type RecorderProgram,
  recorderArguments,
  recorderScript,
} from './recorder-program.ts';

/** How often a recorder is looked at, in milliseconds: in its first seconds, and later. */
const START_LOOK_MS = 100;
const LOOK_MS = 250;
/** How long a start is watched (MTG-4), in milliseconds. */
const WATCH_MS = 4_000;
/** A recorder that has just ended may have its session for a moment: so often, and so long apart, it is tried again. */
const DUPLICATE_TRIES = 8;
const DUPLICATE_WAIT_MS = 250;
/** How long a row waits for its tail, and after how long without a look the disk is said not to answer, in milliseconds. */
const TAIL_MS = 1_000;
const UNSEEN_MS = 5_000;

/** The multiplexer session of a recorder; rejects where nobody can tell. */
type RecorderSessions = {
  start(spec: { name: string; cwd: string; command: string[] }): Promise<RecorderStarted>;
  look(name: string): Promise<RecorderSession>;
  end(name: string): Promise<'killed' | 'gone' | 'unknown'>;
};

export type MeetingServiceOptions = {
  files: MeetingFiles;
  sessions: RecorderSessions;
  /** Looks for the program again each time. */
  findRecorder(): FoundRecorder;
  /** Socket of a private tmux server; null for the user's own. */
  tmux_socket: string | null;
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  clock: Clock;
  /** Milliseconds of the system's clock that nobody sets, which the recorder reads too. */
  monotonic(): number;
  logger: Logger;
  /** An id that no other recording has. */
  newLaunch(): string;
  lifeOf(process: ProcessIdentity): Promise<ProcessLife>;
  /** Sends SIGINT; throws where the process is gone. */
  interrupt(process: ProcessIdentity): void;
  /** Told whenever the recorder was looked at. */
  onLook?: () => void;
};

/** The meeting as the relay of audio sees it. */
export type RelayedMeeting = {
  launch: string;
  mode: MeetingMode;
  state: JudgedMeeting['state'];
  /** Why it failed. */
  error: string | null;
  /** The recorder's socket; null while it has none. */
  socket: string | null;
};

type Current = { record: MeetingRecord; judged: JudgedMeeting; socket: string | null };

/**
 * The one meeting of this daemon: starts its recorder, follows it, tells it to stop. The recorder is a process of its own,
 * so that a recording goes on while this daemon is away; the record of it is on disk before it is started.
 */
export class MeetingService {
  readonly #in: MeetingServiceOptions;
  readonly #changing = new Mutex();
  #current: Current | null = null;
  #stopLooking: (() => void) | null = null;
  #looking = false;
  #lookedAt = 0;
  /** The tail as it was read last, and the reading of it that is under way. */
  #tail: { name: string; lines: string[]; reading: Promise<void> | null } | null = null;
  /** What a recorder last said of itself. */
  #said: RecorderState | null = null;
  /** The launch whose transcript says that its recorder ended. */
  #closed: string | null = null;
  /** The launch whose recorder this daemon has seen alive. */
  #seenAlive: string | null = null;
  /** The launch whose recorder this daemon has interrupted. */
  #interrupted: string | null = null;

  constructor(options: MeetingServiceOptions) {
    this.#in = options;
  }

  /** Takes over the meeting that an earlier daemon started. */
  async begin(): Promise<void> {
    await this.look();
    if (this.#current !== null)
      this.#in.logger.info({ launch: this.#current.record.launch }, 'took over a meeting');
  }

  stopLooking(): void {
    this.#stopLooking?.();
    this.#stopLooking = null;
  }

  capabilities(): { available: boolean; unavailable: string | null; modes: MeetingMode[] } {
    const found = this.#in.findRecorder();
    const unavailable = 'unavailable' in found ? found.unavailable : null;
    return { available: unavailable === null, unavailable, modes: modesOf(found, this.#in.platform) };
  }

  /** The row, with the tail as it is on disk now; null without a meeting. */
  async row(): Promise<Meeting | null> {
    return this.#current === null ? null : this.#rowOf(this.#current);
  }

  /** What `GET /state` says of it, without a look at the disk. */
  summary(): Pick<Meeting, 'state' | 'title' | 'launch' | 'started_at'> | null {
    if (this.#current === null) return null;
    const { record, judged } = this.#current;
    const { title, launch, started_at } = record;
    return { state: judged.state, title, launch, started_at };
  }

  /** Where its fiber is looked for; null without a meeting. */
  place(): ScribePlace | null {
    return this.#current === null ? null : placeOf(this.#current.record);
  }

  relayed(): RelayedMeeting | null {
    if (this.#current === null) return null;
    const { record, judged, socket } = this.#current;
    return { launch: record.launch, mode: record.mode, ...judged, socket };
  }

  /** Reads the lifecycle file and asks the kernel for the recorder. */
  async look(): Promise<void> {
    const record = this.#in.files.read();
    if (record === null) this.#become(null);
    else await this.#judge(record);
    this.#lookedAt = this.#in.clock.now();
    this.#in.onLook?.();
  }

  async start(
    asked: StartMeeting,
  ): Promise<{ meeting: Meeting; scribe_transcript: string | null } | RehearsedMeeting> {
    return this.#changing.run(async () => {
      await this.look();
      const { program, mode } = await this.#requireStart(asked.mode);
      const record = this.#recordOf(asked, program, mode);
      const scribe_transcript = record.mirror?.path ?? this.#in.files.pathsOf(record.name).transcript;
      if (asked.dry_run) {
        const meeting = await this.#rowOf({ record, judged: { state: 'starting', error: null } });
        return { ...this.#show(record, program), meeting, scribe_transcript };
      }
      if (this.#current !== null) await this.#dismiss();
      const meeting = await this.#launch(record, program);
      return { meeting, scribe_transcript };
    });
  }

  /** Tells a recorder to stop, once; dismisses one that has not recorded or has failed (MTS-5 to MTS-7). */
  async stop(dry_run: boolean): Promise<{ meeting: Meeting | null; place: ScribePlace | null } | Rehearsal> {
    return this.#changing.run(async () => {
      await this.look();
      const current = this.#require();
      const step = stopStep(current.judged);
      if (dry_run) return showStop(step, current);
      if (step === 'dismiss') await this.#dismiss();
      else if (step === 'interrupt') await this.#tellToStop(current.record);
      return { meeting: await this.row(), place: this.place() };
    });
  }

  /** Adds a comment line to the transcript of a meeting that is live. */
  async mark(text: string | undefined, dry_run: boolean): Promise<Marked | Rehearsal> {
    await this.look();
    const { record, judged } = this.#require();
    const refusal = markRefusal(judged.state);
    if (refusal !== null) throw new CodedError('meeting_not_live', refusal);
    // No reader of lines may take a part of it for another line.
    const words = (text ?? '').replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, ' ').trim();
    const line = `# mark ${timeOfDay(this.#transcriptTime(record))}${words === '' ? '' : ` ${words}`}`;
    const { transcript } = this.#in.files.pathsOf(record.name);
    if (dry_run) return rehearsal(`add the line "${line}" to ${transcript}`);
    await this.#in.files.addLine(transcript, line);
    return { line, meeting: await this.#rowOf({ record, judged }), place: placeOf(record) };
  }

  #require(): Current {
    if (this.#current !== null) return this.#current;
    throw new CodedError(
      'no_meeting',
      'No meeting is recorded here; start one with: svc meeting start --project-dir <dir>',
    );
  }

  async #requireStart(asked: string): Promise<{ program: RecorderProgram; mode: MeetingMode }> {
    const current = await this.row();
    if (current !== null && current.state !== 'failed')
      throw new CodedError(
        'meeting_running',
        `A meeting is ${current.state} here: "${current.title}"; stop it first with: svc meeting stop`,
        { details: { meeting: current } },
      );
    const found = this.#in.findRecorder();
    if ('unavailable' in found) throw new CodedError('recorder_unavailable', found.unavailable);
    const modes = modesOf(found, this.#in.platform);
    const mode = modes.find((one) => one === asked);
    if (mode !== undefined) return { program: found.program, mode };
    throw new CodedError(
      'meeting_unsupported',
      `"${asked}" cannot be recorded on this host; its recorder has: ${modes.join(', ')}`,
    );
  }

  #recordOf(asked: StartMeeting, program: RecorderProgram, mode: MeetingMode): MeetingRecord {
    const launch = this.#in.newLaunch();
    const title = titleOf(asked.note);
    const started_at = this.#in.clock.now();
    const name = nameOf(title, launch, started_at);
    const mirror: Mirror | null =
      asked.mirror === null ? null : { ...asked.mirror, path: mirrorPath(program, name) };
    return {
      version: 1,
      ...{ launch, name, mode, title, started_at, mirror, fiber: asked.fiber },
      ...{ fiber_uid: asked.fiber_uid, owner: asked.owner },
      ...{ process: null, stop_asked_at: null },
    };
  }

  #show(record: MeetingRecord, program: RecorderProgram): Rehearsal {
    const argv = [...program.argv, ...recorderArguments(record, this.#in.files.pathsOf(record.name))];
    return rehearsal(`record "${record.title}" as ${record.mode}`, {
      command: { argv, cwd: null, env: [], mux_session: RECORDER_SESSION },
      minted: { launch: record.launch, name: record.name },
    });
  }

  async #launch(record: MeetingRecord, program: RecorderProgram): Promise<Meeting> {
    const { files, logger } = this.#in;
    const paths = files.pathsOf(record.name);
    const argv = [...program.argv, ...recorderArguments(record, paths)];
    const script = files.writeScript(record.name, recorderScript(argv, paths.log, this.#in.env));
    files.write(record);
    try {
      const process = await this.#startSession(script);
      files.keep({ ...record, process });
    } catch (error) {
      if (error instanceof NotStarted) {
        files.clear();
        this.#become(null);
      } else await this.look();
      throw error;
    }
    logger.info({ launch: record.launch, mode: record.mode }, 'started a recorder');
    return this.#watch(record);
  }

  async #startSession(script: string): Promise<ProcessIdentity | null> {
    const { sessions, clock, files } = this.#in;
    for (let tries = 1; ; tries += 1) {
      const started = await sessions.start({
        ...{ name: RECORDER_SESSION, cwd: files.folder, command: ['/bin/sh', script] },
      });
      if (started.kind === 'created') return started.process;
      if (started.kind === 'failed') throw new NotStarted(started.code, started.detail);
      if (tries === DUPLICATE_TRIES)
        throw new NotStarted(
          'session_name_taken',
          `The session ${RECORDER_SESSION} is there, and no meeting of this daemon is in it; end it with: ${this.#killSession()}`,
        );
      await sleep(clock, DUPLICATE_WAIT_MS);
    }
  }

  /** The command that ends the session of a recorder. */
  #killSession(): string {
    const { tmux_socket } = this.#in;
    const server = tmux_socket === null ? [] : ['-S', tmux_socket];
    return shellLine(['tmux', ...server, 'kill-session', '-t', `=${RECORDER_SESSION}`]);
  }

  /** Until it records, has failed, or has had its first seconds (MTS-3, MTS-4). */
  async #watch({ name }: MeetingRecord): Promise<Meeting> {
    const { clock } = this.#in;
    const until = clock.now() + WATCH_MS;
    for (;;) {
      await this.look();
      const row = await this.row();
      if (row === null) {
        const log = await this.#in.files.lastLogLine(name);
        const said = log === null ? 'it printed nothing: try it by hand.' : `it said: ${log}`;
        throw new CodedError('recorder_failed', `The recorder ended at once and recorded nothing; ${said}`, {
          details: { recording: false },
        });
      }
      if (row.state === 'failed')
        throw new CodedError('recorder_failed', row.error ?? 'The recorder failed.', {
          details: { meeting: row, recording: false },
        });
      if (row.state === 'live' || row.state === 'stopping' || clock.now() >= until) return row;
      await sleep(clock, START_LOOK_MS);
    }
  }

  /** Ends its session, and forgets the meeting (MTS-7). */
  async #dismiss(): Promise<void> {
    const { sessions, files } = this.#in;
    if ((await sessions.end(RECORDER_SESSION)) === 'unknown')
      throw new CodedError('mux_unavailable', 'tmux does not report what runs; try again in a moment');
    files.clear();
    this.#become(null);
  }

  async #tellToStop(record: MeetingRecord): Promise<void> {
    const process = await this.#processOf(record);
    const stopped = { ...record, process, stop_asked_at: this.#in.clock.now() };
    this.#in.files.keep(stopped);
    if (process !== null) this.#interrupt(stopped, process);
    await this.#judge(stopped);
    this.#in.logger.info({ launch: record.launch }, 'told the recorder to stop');
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

  async #judge(record: MeetingRecord): Promise<void> {
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
    // A look that began before a start, a stop or a dismissal tells nothing of what is there now.
    if (files.read() !== record) return;
    if (judged === null) {
      files.clear();
      this.#in.logger.info({ launch: record.launch }, 'the meeting is over');
    }
    this.#become(judged === null ? null : { record, judged, socket: said?.phone ?? null });
  }

  async #closeTranscript(record: MeetingRecord): Promise<void> {
    const { launch, name } = record;
    if (this.#closed === launch) return;
    const { files } = this.#in;
    try {
      const { transcript } = files.pathsOf(name);
      // It may have ended while no daemon was there; then its files tell when.
      const ended_at = this.#seenAlive === launch ? null : await files.lastWrite(name);
      const at = timeOfDay(ended_at ?? this.#transcriptTime(record));
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

  /** Now, as the recorder of a meeting counts it: a clock that is set during a meeting moves no line. */
  #transcriptTime({ launch }: MeetingRecord): number {
    const base = this.#said?.launch === launch ? this.#said.time_base : null;
    const passed = base == null ? -1 : this.#in.monotonic() - base.monotonic;
    return base == null || passed < 0 ? this.#in.clock.now() : base.wall + passed;
  }

  async #lifeOf(record: MeetingRecord): Promise<ProcessLife> {
    const process = await this.#processOf(record);
    if (process !== null) return this.#in.lifeOf(process);
    const session = await this.#lookAtSession();
    return session.kind === 'there' ? 'alive' : session.kind;
  }

  /** As it was started; where a daemon ended before it had written that down, as its own file or its session tell. */
  async #processOf(record: MeetingRecord): Promise<ProcessIdentity | null> {
    if (record.process !== null) return record.process;
    const { said } = await this.#stateOf(record);
    if (said !== null && said.process_started !== null)
      return { pid: said.pid, start_time: said.process_started };
    const session = await this.#lookAtSession();
    return session.kind === 'there' ? session.process : null;
  }

  #lookAtSession(): Promise<RecorderSession> {
    return this.#in.sessions
      .look(RECORDER_SESSION)
      .catch((error: unknown) => ({ kind: 'unknown' as const, detail: messageOf(error) }));
  }

  /** The last lines as they are on disk; of a disk that does not answer in time, as they were read last. */
  async #tailOf({ name }: MeetingRecord): Promise<string[]> {
    if (this.#tail?.name !== name) this.#tail = { name, lines: [], reading: null };
    const tail = this.#tail;
    tail.reading ??= this.#in.files.tail(name).then((lines) => {
      Object.assign(tail, { lines, reading: null });
    });
    const late = Promise.withResolvers<void>();
    const cancel = this.#in.clock.after(TAIL_MS, late.resolve);
    await Promise.race([tail.reading, late.promise]);
    cancel();
    return tail.lines;
  }

  #become(current: Current | null): void {
    this.#current = current;
    if (current === null) this.stopLooking();
    else this.#stopLooking ??= this.#in.clock.every(LOOK_MS, () => void this.#lookAgain());
  }

  async #lookAgain(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      await this.look();
    } catch (error) {
      this.#in.logger.error({ err: messageOf(error) }, 'the meeting could not be looked at');
    } finally {
      this.#looking = false;
    }
  }

  async #rowOf({ record, judged }: Pick<Current, 'record' | 'judged'>): Promise<Meeting> {
    const { files, clock } = this.#in;
    const { transcript } = files.pathsOf(record.name);
    const tail = await this.#tailOf(record);
    const is_unseen = clock.now() - this.#lookedAt >= UNSEEN_MS;
    return {
      ...judged,
      error: is_unseen ? `${unseen(files.folder)}${judged.error ?? ''}`.trimEnd() : judged.error,
      mode: record.mode,
      title: record.title,
      started_at: record.started_at,
      tail,
      transcript,
      mirror_host: record.mirror?.host ?? null,
      fiber: record.fiber,
      joined: record.fiber !== null,
      phone: record.mode === 'phone',
      launch: record.launch,
      mux_session: RECORDER_SESSION,
    };
  }
}

function unseen(folder: string): string {
  return `The disk of ${folder} does not answer; the meeting is shown as it was last seen. `;
}

function placeOf({ owner, fiber_uid }: MeetingRecord): ScribePlace {
  return { owner, fiber_uid };
}

/**
 * Why a meeting in this state takes no mark: before the recorder is live its first line is missing, which names the engine,
 * and `# ended` is the last one.
 */
function markRefusal(state: JudgedMeeting['state']): string | null {
  if (state === 'live') return null;
  if (state === 'stopping') return 'The meeting is being stopped, and takes no mark any more.';
  if (state === 'failed')
    return 'The recorder has ended, and the meeting takes no mark any more; start another one with: svc meeting start --project-dir <dir>';
  return 'The recorder is getting ready, and takes no mark yet; try again in a moment.';
}

/** The recorder was surely not started; where tmux does not answer, it may have been, and is followed. */
class NotStarted extends CodedError {}

type StopStep = 'dismiss' | 'interrupt' | 'nothing';

function stopStep({ state }: JudgedMeeting): StopStep {
  if (state === 'starting' || state === 'failed') return 'dismiss';
  return state === 'stopping' ? 'nothing' : 'interrupt';
}

function showStop(step: StopStep, { record: { title }, judged: { state } }: Current): Rehearsal {
  if (step === 'nothing') return rehearsal(`change nothing: the meeting "${title}" is stopping already`);
  if (step === 'interrupt') return rehearsal(`end the meeting "${title}", which is ${state}`);
  const was = state === 'failed' ? 'has failed' : 'does not record yet';
  return rehearsal(`dismiss the meeting "${title}", which ${was}`, { ends: [RECORDER_SESSION] });
}
