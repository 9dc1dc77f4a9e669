import { CodedError, isCoded } from '../../base/errors.ts';
import { shellLine } from '../../base/shell-word.ts';
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
        ? rehearsed(rehearsal('put the brake on for the next daemon; none runs'))
        : rehearseRequest(daemon, '/brake', bodyOf({ kill, note }));
    return daemon === null
      ? pullHere(context, settings, { kill, note }, null)
      : pullThere(context, settings, daemon, { kill, note });
  },
});

/** Codes of a daemon that has not said that the brake is on. */
const SILENT = ['daemon_unreachable', 'booting', 'component_unavailable', 'outcome_unknown'];

async function pullThere(
  context: CliContext,
  settings: Settings,
  daemon: DaemonClient,
  options: Options,
): Promise<Answer> {
  try {
    const pulled = await whenBooted(context, () => daemon.post('/brake', bodyOf(options), brakePulledSchema));
    return answerOf(pulled, settings, options.kill === true);
  } catch (error) {
    // The poller reads the brake file whatever else of its daemon hangs or is starting again.
    if (!SILENT.some((code) => isCoded(error, code))) throw error;
    return pullHere(context, settings, options, daemon);
  }
}

/** The brake is a file, so it can be put on without a daemon, or while one is `silent`. */
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
  const not_ended = options.kill === true;
  const why =
    silent === null
      ? 'No daemon runs'
      : `The daemon (pid ${silent.daemon.pid}) does not answer; it takes up the file with its next tick if it still ticks`;
  return {
    json: { stopped: true, changed: !was, file: path, daemon: false },
    text:
      `${was ? 'The brake was on already' : 'The brake is on'}, by its file ${path}. ${why}; nothing new is started.\n` +
      LET_GO,
    faults: not_ended
      ? ['no worker was ended: only a daemon can do that; run: svc daemon start, then: svc stop-all --kill']
      : [],
    exit: not_ended ? EXIT.refused : EXIT.ok,
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
