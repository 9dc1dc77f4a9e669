import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath, resolve } from 'node:path';
import { z } from 'zod';
import { type Clock, sleep } from '../../base/clock.ts';
import { CodedError, isCoded, systemCode } from '../../base/errors.ts';
import { svcOf } from '../../config/own-command.ts';
import { readSettings } from '../../config/settings.ts';
import { capturedSchema } from '../../contract/http/capture.ts';
import {
  type MeetingAnswer,
  meetingAnswerSchema,
  meetingJoinedSchema,
  meetingMarkedSchema,
  meetingSchema,
  meetingStoppedSchema,
} from '../../contract/http/meeting.ts';
import { rehearsalSchema } from '../../contract/http/rehearsal.ts';
import { MEETING_MODES, SAMPLE_RATE } from '../../contract/recorder.ts';
import { spokenLines, TAIL_BYTES } from '../../contract/spoken-lines.ts';
import { failureWords } from '../../platform/failure-words.ts';
import { findExecutable } from '../../platform/find-executable.ts';
import { createRunner } from '../../platform/process.ts';
import { readRegularEnd, readRegularFile } from '../../platform/regular-file.ts';
import { describeEngines } from '../../recorder/engines/engines.ts';
import {
  AGENT,
  argument,
  choice,
  DRY_RUN,
  EFFORT,
  ON_HOST,
  option,
  PROJECT_DIR,
  required,
  SERVED_FIBER,
} from '../command-line/options.ts';
import { formatTable } from '../command-line/output.ts';
import { rehearsed, rehearseRequest } from '../command-line/rehearsal.ts';
import { type Answer, type CliContext, defineVerb, EXIT, type ExitCode } from '../command-line/verb.ts';
import { boardAddress } from '../daemon-client/board-address.ts';
import {
  chooseAddress,
  connectDaemon,
  type DaemonAnswer,
  type DaemonClient,
  errorOf,
} from '../daemon-client/client.ts';
import { readFiber } from '../daemon-client/daemon-of-fiber.ts';
import { engineSettings } from '../recorder-engines.ts';
import { meetingPage, meterLine, newLines } from './meeting/follow-page.ts';
import { CONVERSATION, playSamples, samplesOfWav } from './meeting/play.ts';

/** How long a meeting is followed without a daemon that answers, in milliseconds: a restart takes some seconds. */
const AWAY_MS = 60_000;
/** Between two looks at a meeting, and two lines with its level, in milliseconds. */
const LOOK_MS = 1_000;
const METER_MS = 5_000;

/** The errors of a daemon that ends or starts. */
const AWAY: ReadonlySet<string> = new Set(['daemon_unreachable', 'booting', 'component_unavailable']);

const MODE = choice('--mode <mode>', MEETING_MODES, 'what is recorded; default: phone');
const NOTE = argument('[note]', 'what the meeting is about; its first line is the title');
const HOST = option('--host <id>', 'host that the scribe works on; the recording is made here');
const DEFAULT_MODE = 'phone';
/** Bytes of a sound file that is played: more than nine hours. */
const MOST_SOUND_BYTES = 1024 * 1024 * 1024;
/** Bytes of the pause after each sentence of a conversation: a second of silence. */
const PAUSE_BYTES = SAMPLE_RATE * 2;
/** How long flite may take for a sentence, in milliseconds. */
const SPEAK_MS = 20_000;

/** `svc meeting start|join|stop|status|mark|play|engines`: the meeting that this host records. */
export const start = defineVerb({
  summary: 'Record a meeting, and have a worker make a fiber of it',
  arguments: { note: NOTE },
  options: {
    project_dir: required(PROJECT_DIR),
    mode: MODE,
    agent: AGENT,
    effort: EFFORT,
    store: option('--store <dir>', 'store that the fiber goes to'),
    host: HOST,
    dry_run: DRY_RUN,
  },
  examples: [['svc meeting start "Budget 2027" --project-dir .', 'a phone records; a worker takes notes']],
  page: 'meetings.md',
  json: capturedSchema,
  exits: { 1: 'it was refused; the message says whether a recording goes on' },
  async run(context, { note, project_dir, mode = DEFAULT_MODE, agent, effort, store, host, dry_run }) {
    const daemon = await connectDaemon(readSettings(context.env));
    const body = {
      ...(note !== undefined && { prompt: note }),
      // A folder of another host is not below the current one.
      project_dir: host === undefined ? resolve(context.cwd, project_dir) : project_dir,
      ...{ agent, effort, origin: host, meeting: { mode } },
      store: store === undefined || host !== undefined ? store : resolve(context.cwd, store),
    };
    if (dry_run === true) return rehearseRequest(daemon, '/capture', body);
    const answer = await daemon.request('POST', '/capture', body);
    const captured = capturedSchema.safeParse(answer.body);
    if (!captured.success || captured.data.meeting === undefined)
      return notTakenUp(context, answer, '/capture');
    const { meeting, agent: scribe, mux_session } = captured.data;
    const watch =
      mux_session === null
        ? ''
        : `Scribe   ${scribe}, watch it with: ${svcOf(readSettings(context.env))} attach ${mux_session}\n`;
    return { json: captured.data, text: `${startedPage(context, daemon, meeting)}${watch}` };
  },
});

export const join = defineVerb({
  summary: 'Record a meeting into a fiber; its worker is told',
  arguments: { fiber: SERVED_FIBER, note: NOTE },
  options: { mode: MODE, host: ON_HOST, dry_run: DRY_RUN },
  examples: [['svc meeting join plans/budget', 'the worker of the fiber is told, or started']],
  page: 'meetings.md',
  json: meetingJoinedSchema,
  exits: { 1: 'it was refused; the message says whether a recording goes on' },
  async run(context, { fiber, note, mode = DEFAULT_MODE, host, dry_run }) {
    const found = await readFiber(context, fiber, host);
    const daemon = await connectDaemon(readSettings(context.env));
    const body = {
      ...{ fiber_id: found.fiber.id, meeting: { mode } },
      ...(found.host !== null && { origin: found.host }),
      ...(note !== undefined && { note }),
    };
    if (dry_run === true) return rehearseRequest(daemon, '/meeting/join', body);
    const answer = await daemon.request('POST', '/meeting/join', body);
    const joined = meetingJoinedSchema.safeParse(answer.body);
    if (!joined.success) return notTakenUp(context, answer, '/meeting/join');
    const { meeting, delivery } = joined.data;
    return {
      json: joined.data,
      text: `${startedPage(context, daemon, meeting)}Scribe   ${found.fiber.id}, ${toldText(delivery)}\n`,
    };
  },
});

/** Whether the worker of a fiber knows of the meeting that joins it. */
function toldText(delivery: MeetingJoined['delivery']): string {
  if (delivery.delivery !== 'message') return 'a worker was started';
  const { status, transport, detail } = delivery.receipt;
  if (status === 'rejected') return `not told: ${detail}`;
  return `${transport === 'held' ? 'not told yet' : 'told'}: ${detail}`;
}

export const stop = defineVerb({
  summary: 'End the meeting that is recorded',
  options: { dry_run: DRY_RUN },
  examples: [['svc meeting stop', 'the recorder writes its last lines, and ends']],
  page: 'meetings.md',
  json: meetingStoppedSchema,
  async run(context, { dry_run }) {
    const daemon = await connectDaemon(readSettings(context.env));
    if (dry_run === true) return rehearseRequest(daemon, '/meeting/stop', {});
    // The answer has no row of a meeting that is over by then.
    const before = await daemon.get('/meeting', meetingAnswerSchema).catch(() => null);
    const stopped = await daemon.post('/meeting/stop', {}, meetingStoppedSchema);
    const { meeting } = stopped;
    if (meeting === null) return { json: stopped, text: overText(before?.meeting ?? null) };
    return {
      json: stopped,
      text: `"${meeting.title}" is ending; its transcript is ${meeting.transcript}\n`,
    };
  },
});

/** What a stop that left no meeting did, by the meeting as it was before; null where that is not known. */
function overText(before: Meeting | null): string {
  if (before === null) return 'The meeting is over.\n';
  const { state, title, transcript } = before;
  const kept = existsSync(transcript) ? `; its transcript is ${transcript}` : ', which recorded nothing';
  if (state === 'failed') return `Put away the failed meeting "${title}"${kept}\n`;
  if (state === 'starting' || state === 'loading') return `Dismissed "${title}"${kept}\n`;
  return `"${title}" has ended${kept}\n`;
}

export const status = defineVerb({
  summary: 'Show the meeting of a host, and its last lines',
  options: {
    follow: option('-f, --follow', 'keep showing what is said, until the meeting ends'),
    host: option('--host <id>', 'another host'),
  },
  examples: [['svc meeting status -f', 'what is said, line by line, and how loud it is']],
  page: 'meetings.md',
  json: meetingAnswerSchema,
  async run(context, { follow, host, json }) {
    const settings = readSettings(context.env);
    const daemon = await connectDaemon(settings);
    const path = host === undefined ? '/meeting' : `/meeting?origin=${encodeURIComponent(host)}`;
    const answer = await daemon.get(path, meetingAnswerSchema);
    if (follow !== true || answer.meeting === null) {
      const tail = answer.meeting?.tail.map((line) => `${line}\n`).join('') ?? '';
      return {
        json: answer,
        text: `${meetingPage(answer, context.clock.now(), svcOf(settings))}${tail}`,
      };
    }
    // The daemon may be another one by then.
    const look = async () => (await connectDaemon(settings)).get(path, meetingAnswerSchema);
    return followMeeting(context, answer, { look, host, as_json: json === true });
  },
});

export const mark = defineVerb({
  summary: 'Mark this moment in the transcript, and tell the scribe',
  arguments: { text: argument('[text]', 'what it is about') },
  options: { dry_run: DRY_RUN },
  examples: [['svc meeting mark "budget agreed"', 'a line with the time in the transcript']],
  page: 'meetings.md',
  json: meetingMarkedSchema,
  async run(context, { text, dry_run }) {
    const daemon = await connectDaemon(readSettings(context.env));
    const body = text === undefined ? {} : { text };
    if (dry_run === true) {
      const shown = await daemon.post('/meeting/mark', { ...body, dry_run }, rehearsalSchema);
      return rehearsed(shown);
    }
    const marked = await daemon.post('/meeting/mark', body, meetingMarkedSchema);
    const warnings = marked.undelivered === null ? [] : [`the scribe was not told: ${marked.undelivered}`];
    return { json: marked, text: `${marked.line}\n`, warnings };
  },
});

export const play = defineVerb({
  summary: 'Play a sound file into the meeting, as a phone would',
  arguments: {
    file: argument(
      '[file]',
      'WAV of 16 kHz, one channel, 16 bit; without it a conversation is spoken by flite',
    ),
  },
  examples: [
    ['svc meeting play talk.wav', 'takes as long as it does to listen to it'],
    ['svc meeting play', 'a short conversation; in the demo: svc demo meeting play'],
  ],
  page: 'meetings.md',
  json: z.object({ seconds: z.number() }),
  async run(context, { file }) {
    const settings = readSettings(context.env);
    const { daemon } = await connectDaemon(settings);
    const address = chooseAddress(daemon.listen);
    if (address === null) throw new CodedError('daemon_unreachable', 'the daemon listens nowhere');
    const samples =
      file === undefined
        ? await spokenConversation(context)
        : await readWav(resolve(context.cwd, file), file);
    const seconds = Math.round(samples.length / 2 / SAMPLE_RATE);
    await playSamples(address, samples, context.clock, (message) => {
      if (message.state === 'waiting') context.err(`svc: ${message.reason}\n`);
    });
    return { json: { seconds }, text: `Played ${seconds} s; what was heard: ${svcOf(settings)} meeting\n` };
  },
});

async function readWav(path: string, name: string): Promise<Buffer> {
  const file = await readRegularFile(path, MOST_SOUND_BYTES).catch((error: unknown) => {
    const code = systemCode(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    throw new CodedError('file_not_found', `there is no file ${path}; check the path`, { cause: error });
  });
  return samplesOfWav(file, name);
}

/** Has flite, a program of Debian, speak a conversation with pauses between its sentences. */
async function spokenConversation(context: CliContext): Promise<Buffer> {
  const flite = await findExecutable('flite', context.env.PATH ?? '');
  if (flite === null)
    throw new CodedError(
      'not_found',
      'flite, which speaks the conversation, is not installed; run: apt-get install flite, or name a WAV file',
    );
  const folder = mkdtempSync(joinPath(tmpdir(), 'svc-speech-'));
  try {
    const runner = createRunner();
    const pieces: Buffer[] = [];
    for (const sentence of CONVERSATION) {
      const wav = joinPath(folder, 'sentence.wav');
      const args = ['-voice', 'rms', '-t', sentence, '-o', wav];
      const spoken = await runner.run({ file: flite, args, timeout_ms: SPEAK_MS, max_output_bytes: 4_096 });
      if (spoken.kind !== 'exited' || spoken.code !== 0)
        throw new CodedError(
          'internal',
          `flite could not speak the conversation (${failureWords(spoken)}); name a WAV file`,
        );
      pieces.push(await readWav(wav, wav), Buffer.alloc(PAUSE_BYTES));
    }
    return Buffer.concat(pieces);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const engineSchema = z.object({
  id: z.string(),
  /** A recording would use it. */
  chosen: z.boolean(),
  usable: z.boolean(),
  /** What it is and cannot do, or why it cannot be used, with the fix. */
  says: z.string(),
});

export const engines = defineVerb({
  summary: 'Show which engines can turn speech into text here',
  examples: [['svc meeting engines', 'each engine, and which one a recording would use']],
  page: 'recorder.md',
  json: z.object({ engines: z.array(engineSchema) }),
  async run(context) {
    const found = await describeEngines(engineSettings(readSettings(context.env), context.env));
    const rows = found.map(({ id, usable, chosen, says }) => [
      id,
      chosen ? 'used' : usable ? 'could be' : 'no',
      says,
    ]);
    return { json: { engines: found }, text: formatTable(['engine', 'here', ''], rows, context.width) };
  },
});

/** A start whose second part failed: what went wrong, and that the recording goes on. */
function notTakenUp(context: CliContext, answer: DaemonAnswer, path: string): Answer {
  const goesOn = z
    .object({ recording: z.literal(true), meeting: meetingSchema, message: z.string() })
    .safeParse(answer.body);
  if (!goesOn.success) throw errorOf(answer, path);
  const { message, meeting } = goesOn.data;
  return {
    json: answer.body,
    text: '',
    faults: [
      message,
      `the recording goes on without a scribe: ${meeting.transcript}; end it with: ${svcOf(readSettings(context.env))} meeting stop`,
    ],
    exit: EXIT.refused,
  };
}

function startedPage(
  context: CliContext,
  daemon: DaemonClient,
  { title, state, transcript, launch, phone }: Meeting,
): string {
  const board = boardAddress(daemon.daemon.listen);
  const page =
    !phone || board === null ? '' : `Phone    ${new URL(`/?view=meeting&launch=${launch}`, board)}\n`;
  return `"${title}" is ${state}\n${page}Text     ${transcript}\nFollow   ${svcOf(readSettings(context.env))} meeting status -f\n`;
}

type Meeting = z.output<typeof meetingSchema>;
type MeetingJoined = z.output<typeof meetingJoinedSchema>;

/** Looks until a daemon answers, which a restart keeps from that for a while. */
async function lookAgain(clock: Clock, look: () => Promise<MeetingAnswer>): Promise<MeetingAnswer> {
  const until = clock.now() + AWAY_MS;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (!isCoded(error) || !AWAY.has(error.code) || clock.now() >= until) throw error;
    }
    await sleep(clock, LOOK_MS);
  }
}

/** The last lines of a transcript of this host; where it cannot be read, those that are known. */
async function spokenLast(transcript: string, known: readonly string[]): Promise<readonly string[]> {
  try {
    const { bytes, cut } = await readRegularEnd(transcript, TAIL_BYTES);
    return spokenLines({ text: bytes.toString('utf8'), cut });
  } catch {
    return known;
  }
}

/** Prints each new line, and now and then the level on a terminal, until the meeting is over. */
async function followMeeting(
  context: CliContext,
  first: MeetingAnswer,
  { look, host, as_json }: { look: () => Promise<MeetingAnswer>; host: string | undefined; as_json: boolean },
): Promise<ExitCode> {
  const { clock } = context;
  const on_terminal = Number.isFinite(context.width);
  if (!as_json) context.show(meetingPage(first, clock.now()));
  let tail: readonly string[] = [];
  /** Prints what is new in a tail; how many lines that is. */
  const print = (next: readonly string[]) => {
    const lines = newLines(tail, next);
    tail = next;
    for (const line of lines) context.out(as_json ? `${JSON.stringify({ line })}\n` : `${line}\n`);
    return lines.length;
  };
  let said_at = clock.now();
  for (let answer = first; ; answer = await lookAgain(clock, look)) {
    const { meeting } = answer;
    if (meeting === null || meeting.launch !== first.meeting?.launch) {
      const transcript = first.meeting?.transcript ?? '';
      // What was said last is written at the stop, and no answer has it.
      if (host === undefined) print(await spokenLast(transcript, tail));
      if (!as_json)
        context.show(
          `The meeting is over.${host === undefined ? '' : ` Its transcript on ${host}: ${transcript}`}\n`,
        );
      return EXIT.ok;
    }
    const printed = print(meeting.tail);
    if (printed > 0) said_at = clock.now();
    else if (!as_json && on_terminal && clock.now() - said_at >= METER_MS) {
      context.out(`${meterLine(answer.audio) ?? 'no phone is heard'}\n`);
      said_at = clock.now();
    }
    if (meeting.state === 'failed') {
      context.err(`svc: ${meeting.error ?? 'the recorder failed'}\n`);
      return EXIT.refused;
    }
    await sleep(clock, LOOK_MS);
  }
}
