import { sleep } from '../../base/clock.ts';
import { CodedError } from '../../base/errors.ts';
import { shellLine } from '../../base/shell-word.ts';
import { readBrakeFile } from '../../config/brake-file.ts';
import { dataPaths } from '../../config/paths.ts';
import { readSettings, type Settings } from '../../config/settings.ts';
import {
  type BrakePulled,
  brakePulledSchema,
  type PullBrake,
  pullBrakeSchema,
} from '../../contract/http/brake.ts';
import { rehearsal } from '../../contract/http/rehearsal.ts';
import { readInput, sentenceOfFault } from '../../contract/read-input.ts';
import { endsWorkers } from '../command-line/confirm.ts';
import { DRY_RUN, option } from '../command-line/options.ts';
import { rehearsed, rehearseRequest } from '../command-line/rehearsal.ts';
import { type Answer, type CliContext, defineVerb, EXIT, type Given } from '../command-line/verb.ts';
import { daemonOrNone, pullBrakeFile, whenBooted } from '../daemon-client/brake-without-daemon.ts';
import type { DaemonClient } from '../daemon-client/client.ts';
import {
  type EndedHere,
  endWorkersHere,
  isSilent,
  SOON_MS,
  workersHere,
} from '../daemon-client/end-workers-here.ts';

const OPTIONS = {
  kill: option(
    '--kill',
    'also end the workers that run, and captures; each fiber is then held until svc resume',
  ),
  note: option('--note <text>', 'why, for whoever finds the brake on'),
};
type Options = Given<typeof OPTIONS>;

/** `svc stop-all`: the emergency brake. Nothing new is started until `svc resume-all`. */
export const verb = defineVerb({
  summary: 'Emergency brake: start nothing new on this host',
  options: { ...OPTIONS, dry_run: DRY_RUN },
  examples: [['svc stop-all --note "disk is full"', 'nothing new starts on this host']],
  page: 'why.md',
  json: brakePulledSchema,
  asks: ({ kill }, shown) => kill === true && endsWorkers(shown),
  exits: { 1: 'the brake is on, but a worker was not ended' },
  async run(context, { kill, note, dry_run }) {
    const settings = readSettings(context.env);
    const daemon = await daemonOrNone(settings);
    if (dry_run === true)
      return daemon === null
        ? rehearsed(
            rehearsal(
              `put the brake on for the next daemon; none runs${kill === true ? '; end the workers that run' : ''}`,
            ),
          )
        : rehearseRequest(daemon, '/brake', bodyOf({ kill, note }));
    return daemon === null
      ? pullHere(context, settings, { kill, note }, null)
      : pullThere(context, settings, daemon, { kill, note });
  },
});

/** How long the daemon has to end the workers beside their own time, in milliseconds. */
const ENDING_MS = 2_000;

async function pullThere(
  context: CliContext,
  settings: Settings,
  daemon: DaemonClient,
  options: Options,
): Promise<Answer> {
  const { clock } = context;
  const over = new AbortController();
  const isPulled = () => readBrakeFile(dataPaths(settings).brake_file) !== null;
  const was_pulled = isPulled();
  const asked = whenBooted(context, () =>
    daemon.post('/brake', bodyOf(options), brakePulledSchema, over.signal),
  );
  const within = (ms: number) => Promise.race([asked, sleep(clock, ms).then(() => null)]);
  try {
    let pulled = await within(SOON_MS);
    // It has begun, and ends the workers.
    if (pulled === null && !was_pulled && isPulled())
      pulled = await within(settings.kill_grace_ms + ENDING_MS);
    if (pulled !== null) return answerOf(pulled, settings, options.kill === true);
  } catch (error) {
    if (!isSilent(error)) throw error;
  }
  asked.catch(() => undefined);
  try {
    return await pullHere(context, settings, options, daemon);
  } finally {
    over.abort();
  }
}

/** The brake is a file, and so are the runs: neither needs a daemon that answers. */
async function pullHere(
  context: CliContext,
  settings: Settings,
  options: Options,
  silent: DaemonClient | null,
): Promise<Answer> {
  const asked = readInput(pullBrakeSchema, bodyOf(options));
  if (!asked.success) throw new CodedError('invalid_request', `--${sentenceOfFault(asked.faults[0], '')}`);
  const { path, was } = pullBrakeFile(context, settings, asked.data.note ?? null);
  // A daemon that was started meanwhile may have checked for the file before it existed.
  const late = silent === null ? await daemonOrNone(settings) : null;
  if (late !== null) return pullThere(context, settings, late, options);
  const { ended, not_ended }: EndedHere =
    options.kill === true
      ? await endWorkersHere(context, settings, await workersHere(settings))
      : { ended: [], not_ended: [] };
  const why =
    silent === null
      ? 'No daemon runs'
      : `The daemon (pid ${silent.daemon.pid}) has not answered; it takes up the file with its next tick`;
  const held =
    ended.length === 0 ? '' : `Ended: ${ended.join(', ')}; the daemon holds each once it sees that\n`;
  return {
    json: { stopped: true, changed: !was, file: path, daemon: false, killed: ended, not_killed: not_ended },
    text:
      `${was ? 'The brake was on already' : 'The brake is on'}, by its file ${path}. ${why}; nothing new is started.\n` +
      held +
      LET_GO,
    faults: not_ended.map(({ fiber_id, message }) => `${fiber_id} was not ended: ${message}`),
    exit: not_ended.length > 0 ? EXIT.refused : EXIT.ok,
  };
}

const LET_GO = 'Let work start again with: svc resume-all\n';

function bodyOf(options: Options): PullBrake {
  return {
    ...(options.kill ? { kill: true } : {}),
    ...(options.note === undefined ? {} : { note: options.note }),
  };
}

function answerOf(pulled: BrakePulled, { tmux_socket }: Settings, kill: boolean): Answer {
  const { changed, killed, not_killed, running, captures = [], ended_captures = [], fault } = pulled;
  const goesOn = running.filter((id) => !not_killed.some((one) => one.fiber_id === id));
  const ended = not_killed.length === 0 && !(kill && captures.length > 0);
  const server = tmux_socket === null ? [] : ['-S', tmux_socket];
  const text = [
    `${changed ? 'Stopped' : 'Stopped already'}: nothing new is started.\n`,
    killed.length === 0
      ? ''
      : `Ended and held: ${killed.join(', ')}; each goes on with: svc resume <fiber>\n`,
    ended_captures.length === 0
      ? ''
      : `Ended without a fiber: ${ended_captures.join(', ')}; what was captured is kept, see: svc status\n`,
    goesOn.length === 0
      ? ''
      : `Still at work: ${goesOn.join(', ')}; end them too with: svc stop-all --kill\n`,
    captures.length === 0
      ? ''
      : `Still at work without a fiber: ${captures.join(', ')}; end each as this one: ${shellLine(['tmux', ...server, 'kill-session', '-t', `=${captures[0]}`])}\n`,
    LET_GO,
  ];
  return {
    json: pulled,
    text: text.join(''),
    warnings: not_killed.map(({ fiber_id, message }) => `${fiber_id} was not ended: ${message}`),
    faults: fault === undefined ? [] : [fault],
    exit: ended && fault === undefined ? EXIT.ok : EXIT.refused,
  };
}
