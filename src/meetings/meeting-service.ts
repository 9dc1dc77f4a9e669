import { sleep } from '../base/clock.ts';
import { CodedError, messageOf } from '../base/errors.ts';
import { Mutex } from '../base/mutex.ts';
import type { Meeting } from '../contract/http/meeting.ts';
import { type Rehearsal, rehearsal } from '../contract/http/rehearsal.ts';
import type { MeetingMode } from '../contract/recorder.ts';
import type {
  Marked,
  Mirror,
  RehearsedMeeting,
  ScribePlace,
  StartMeeting,
} from '../contract/threads/audio.ts';
import type { RecorderStarted } from '../contract/threads/recorder-session.ts';
import { requireAnswer } from '../platform/foreign-paths.ts';
import type { ProcessIdentity } from '../platform/process-facts.ts';
import { killCommand } from '../platform/tmux-command.ts';
import { FollowedRecorder, type FollowedRecorderOptions } from './followed-recorder.ts';
import { nameOf, timeOfDay, titleOf } from './meeting-name.ts';
import { type MeetingRecord, RECORDER_SESSION } from './meeting-record.ts';
import { type JudgedMeeting, markRefusal, type StopStep, stopStep } from './meeting-state.ts';
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
  /** Takes the name of the files of a meeting. */
  end(name: string): Promise<'killed' | 'gone' | 'unknown'>;
};

export type MeetingServiceOptions = FollowedRecorderOptions & {
  sessions: RecorderSessions;
  /** Looks for the program again each time. */
  findRecorder(): Promise<FoundRecorder>;
  /** Socket of a private tmux server; null for the user's own. */
  tmux_socket: string | null;
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  /** An id that no other recording has. */
  newLaunch(): string;
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
  readonly #recorder: FollowedRecorder;
  readonly #changing = new Mutex();
  #current: Current | null = null;
  #stopLooking: (() => void) | null = null;
  #looking = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** The tail as it was read last, and the reading of it that is under way. */
  #tail: { name: string; lines: string[]; reading: Promise<void> | null } | null = null;
  constructor(options: MeetingServiceOptions) {
    this.#in = options;
    this.#recorder = new FollowedRecorder(options);
  }

  /** Takes over the meeting that an earlier daemon started. */
  async begin(): Promise<void> {
    // Until it could be looked at, since a disk may answer later.
    this.#stopLooking ??= this.#in.clock.every(LOOK_MS, () => void this.#lookAgain());
    await this.#lookAgain();
    if (this.#current !== null)
      this.#in.logger.info({ launch: this.#current.record.launch }, 'took over a meeting');
  }

  stopLooking(): void {
    this.#stopLooking?.();
    this.#stopLooking = null;
  }

  async capabilities(): Promise<{
    available: boolean;
    unavailable: string | null;
    modes: MeetingMode[];
  }> {
    const found = await this.#in.findRecorder();
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
    await requireAnswer(this.#in.files.folder);
    const record = this.#in.files.read();
    if (record === null) this.#become(null);
    else await this.#judge(record);
    this.#lookedAt = this.#in.clock.monotonic();
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
      if (this.#current !== null) await this.#dismiss(this.#current.record);
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
      if (step === 'dismiss') await this.#dismiss(current.record);
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
    const line = `# mark ${timeOfDay(this.#recorder.transcriptTime(record))}${words === '' ? '' : ` ${words}`}`;
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
      throw new CodedError('meeting_running', runningRefusal(current), { details: { meeting: current } });
    const found = await this.#in.findRecorder();
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
          `The session ${RECORDER_SESSION} is there, and a recorder of another daemon runs in it; end it with: ${killCommand(this.#in.tmux_socket, RECORDER_SESSION)}`,
        );
      await sleep(clock, DUPLICATE_WAIT_MS);
    }
  }

  /** Until it records, has failed, or has had its first seconds (MTS-3, MTS-4). */
  async #watch({ name }: MeetingRecord): Promise<Meeting> {
    const { clock } = this.#in;
    const until = clock.monotonic() + WATCH_MS;
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
      if (row.state === 'live' || row.state === 'stopping' || clock.monotonic() >= until) return row;
      await sleep(clock, START_LOOK_MS);
    }
  }

  /** Ends its session, and forgets the meeting (MTS-7). */
  async #dismiss({ name }: MeetingRecord): Promise<void> {
    const { sessions, files } = this.#in;
    if ((await sessions.end(name)) === 'unknown')
      throw new CodedError('mux_unavailable', 'tmux does not report what runs; try again in a moment');
    files.clear();
    this.#become(null);
  }

  async #tellToStop(record: MeetingRecord): Promise<void> {
    await this.#judge(await this.#recorder.stop(record));
    this.#in.logger.info({ launch: record.launch }, 'told the recorder to stop');
  }

  async #judge(record: MeetingRecord): Promise<void> {
    const { judged, socket } = await this.#recorder.judge(record);
    const { files, logger } = this.#in;
    // A look that began before a start, a stop or a dismissal tells nothing of what is there now.
    if (files.read() !== record) return;
    if (judged === null) {
      files.clear();
      logger.info({ launch: record.launch }, 'the meeting is over');
    }
    this.#become(judged === null ? null : { record, judged, socket });
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
    const is_unseen = clock.monotonic() - this.#lookedAt >= UNSEEN_MS;
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

/** Why no other meeting is started beside one, and what ends that. */
function runningRefusal({ state, title, error }: Meeting): string {
  if (state !== 'stopping')
    return `A meeting is ${state} here: "${title}"; stop it first with: svc meeting stop`;
  return `The meeting "${title}" is still being stopped here; ${error ?? 'start the next one in a moment'}`;
}

function placeOf({ owner, fiber_uid }: MeetingRecord): ScribePlace {
  return { owner, fiber_uid };
}

/** The recorder was surely not started; where tmux does not answer, it may have been, and is followed. */
class NotStarted extends CodedError {}

function showStop(step: StopStep, { record: { title }, judged: { state } }: Current): Rehearsal {
  if (step === 'nothing') return rehearsal(`change nothing: the meeting "${title}" is stopping already`);
  if (step === 'interrupt') return rehearsal(`end the meeting "${title}", which is ${state}`);
  const was = state === 'failed' ? 'has failed' : 'does not record yet';
  return rehearsal(`dismiss the meeting "${title}", which ${was}`, { ends: [RECORDER_SESSION] });
}
