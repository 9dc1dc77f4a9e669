import { isAbsolute, join } from 'node:path';
import { sha256Of } from '../../base/digest.ts';
import { CodedError, isCoded } from '../../base/errors.ts';
import { readRemotes } from '../../config/remotes.ts';
import { readSettings, type Settings } from '../../config/settings.ts';
import { MEETING_MODES } from '../../contract/recorder.ts';
import { SOCKET_PATH_BYTES } from '../../contract/socket-path.ts';
import { findExecutable } from '../../platform/find-executable.ts';
import { systemMonotonic } from '../../platform/monotonic.ts';
import { createRunner } from '../../platform/process.ts';
import { createProcessFacts } from '../../platform/process-facts.ts';
import { ensureRuntimeFolder } from '../../platform/runtime-folder.ts';
import { ENGINES, startEngine } from '../../recorder/engines/engines.ts';
import { type Recording, record } from '../../recorder/recorder.ts';
import { choice, option, required } from '../command-line/options.ts';
import { defineVerb, EXIT } from '../command-line/verb.ts';
import { engineSettings } from '../recorder-engines.ts';

/** `svc recorder`: the program that the daemon starts to record a meeting; see `ops/recorder.md`. */
export const verb = defineVerb({
  summary: 'Record a meeting from a phone’s audio (started by the daemon)',
  options: {
    mode: required(choice('--mode <mode>', MEETING_MODES, 'what is recorded; this recorder knows phone')),
    launch: required(option('--launch <id>', 'id of the recording')),
    name: required(option('--name <name>', 'name of its files')),
    title: option('--title <text>', 'title of the meeting'),
    state: required(option('--state <file>', 'lifecycle file')),
    transcript: required(option('--transcript <file>', 'transcript, which is appended to')),
    audio: option('--audio <file>', 'where the audio is kept, if any is'),
    mirror: option('--mirror <alias>', 'SSH alias of a host that the transcript is copied to'),
    mirror_path: option('--mirror-path <file>', 'the file there; it may begin with ~/'),
    engine: choice('--engine <engine>', ENGINES, 'what turns speech into text; else SVC_RECORDER_ENGINE'),
  },
  examples: [
    [
      'svc recorder --mode phone --launch l1 --name m --state /tmp/m.json --transcript /tmp/m.txt',
      'records what comes to the socket that the lifecycle file names, until Ctrl-C',
    ],
  ],
  page: 'recorder.md',
  exits: { 1: 'it failed; the lifecycle file says why' },
  no_json: 'it runs until it is told to stop',
  async run(context, given) {
    const settings = readSettings(context.env);
    const { state, transcript, audio } = given;
    for (const path of [state, transcript, ...(audio === undefined ? [] : [audio])])
      if (!isAbsolute(path))
        throw new CodedError('invalid_request', `${path} is not an absolute path; name the file whole`);
    const place = placeOf(ensureRuntimeFolder(settings.runtime_dir, context.env), given.launch);
    const recording: Recording = {
      mode: given.mode,
      launch: given.launch,
      state_path: state,
      transcript_path: transcript,
      audio_path: settings.recorder_audio === 'on' ? (audio ?? null) : null,
      socket_path: `${place}.sock`,
      mirror: mirrorOf(settings, given.mirror, given.mirror_path),
      process: { pid: process.pid, started: await ownStart() },
    };
    const stop = new AbortController();
    const onSignal = () => {
      // Whoever asks twice does not want to wait for the last words.
      if (stop.signal.aborted) process.exit(EXIT.refused);
      stop.abort();
    };
    for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
    context.out(`Recording ${given.title ?? given.name} into ${transcript}; stop it with Ctrl-C.\n`);
    const fault = await record(recording, {
      clock: context.clock,
      monotonic: systemMonotonic,
      startEngine: () =>
        startEngine(engineSettings(settings, context.env, given.engine), {
          clock: context.clock,
          runner: createRunner(),
          env: context.env,
          fifo_path: `${place}.pcm`,
          stop: stop.signal,
        }),
      stop: stop.signal,
      mirror: {
        clock: context.clock,
        runner: createRunner(),
        env: context.env,
        ssh: (await findExecutable('ssh', context.env.PATH ?? '')) ?? 'ssh',
      },
    }).finally(() => {
      for (const signal of STOP_SIGNALS) process.off(signal, onSignal);
    });
    if (fault !== null) context.err(`svc: ${fault}\n`);
    return fault === null ? EXIT.ok : EXIT.refused;
  },
});

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The beginning of the paths of a recording's own, as short as that of a socket has to be. */
function placeOf(folder: string, launch: string): string {
  const place = join(folder, `rec-${sha256Of(launch).slice(0, 12)}`);
  const path = `${place}.sock`;
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES) return place;
  throw new CodedError(
    'invalid_config',
    `${path} is longer than the ${SOCKET_PATH_BYTES} bytes that the path of a socket may have; set SVC_RUNTIME_DIR to a shorter folder`,
    { details: { path } },
  );
}

/** Where the transcript is copied to, with the flags that `remotes.json` has for this alias. */
function mirrorOf(
  settings: Settings,
  alias: string | undefined,
  path: string | undefined,
): Recording['mirror'] {
  if (alias === undefined && path === undefined) return null;
  const refuse = (why: string) => {
    throw new CodedError('invalid_request', why);
  };
  if (alias === undefined || path === undefined)
    return refuse('--mirror and --mirror-path belong together; give both or none');
  if (/\p{Cc}/u.test(alias + path)) return refuse('--mirror and --mirror-path take no control characters');
  if (!path.startsWith('/') && !path.startsWith('~/'))
    return refuse(`${path} is no path of the other host; begin it with / or ~/`);
  return { alias, path, flags: flagsOf(settings, alias) };
}

function flagsOf(settings: Settings, alias: string): readonly string[] {
  try {
    return readRemotes(settings).remotes.find(({ ssh }) => ssh === alias)?.ssh_flags ?? [];
  } catch (error) {
    // A file that is not valid now must not keep a meeting from being recorded.
    if (isCoded(error)) return [];
    throw error;
  }
}

async function ownStart(): Promise<string | null> {
  const { platform } = process;
  const found = await createProcessFacts({ platform, runner: createRunner() }).lookUp(process.pid);
  return found.kind === 'found' ? found.row.start_time : null;
}
