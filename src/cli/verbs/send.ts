import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { CodedError, isCoded } from '../../base/errors.ts';
import { didYouMean } from '../../base/nearest-words.ts';
import { shellWord } from '../../base/shell-word.ts';
import { readSettings } from '../../config/settings.ts';
import { statusOf } from '../../contract/error-codes.ts';
import type { FiberRow } from '../../contract/fiber.ts';
import { harnessNameSchema } from '../../contract/harness-name.ts';
import type { FileMessageRequest } from '../../contract/http/message-files.ts';
import { type MessageRequest, type Receipt, receiptSchema } from '../../contract/http/messages.ts';
import { looksLikeAddress, parseAddress, printAddress } from '../../contract/session-address.ts';
import { argument, choice, DRY_RUN, ON_HOST, option, repeated } from '../command-line/options.ts';
import { rehearseRequest } from '../command-line/rehearsal.ts';
import { STAGE_WORDS, stageWords } from '../command-line/screen-words.ts';
import { whileTelling } from '../command-line/spinner.ts';
import { type CliContext, defineVerb, EXIT } from '../command-line/verb.ts';
import { connectDaemon, type DaemonClient } from '../daemon-client/client.ts';
import { knownHosts, readFiber } from '../daemon-client/daemon-of-fiber.ts';
import { addressOfSession } from '../daemon-client/session-by-id.ts';
import { thisHost } from '../find-fiber.ts';
import { readMessageFiles } from '../message-files.ts';
import { ownSession } from '../own-session.ts';

const STAGES = ['queued', 'submitted', 'accepted', 'context_added'] as const;
type Stage = (typeof STAGES)[number];
/** The stages of a message that starts a turn, and of one that is context alone, in their order (MDS-1). */
const OF_WAKE: readonly Stage[] = ['queued', 'submitted', 'accepted'];
const OF_CONTEXT: readonly Stage[] = ['queued', 'context_added'];
/** How long `--wait` waits, and between two looks, in milliseconds. */
const WAIT_MS = 600_000;
const LOOK_MS = 1_000;
/** Each look sends the files again. */
const LOOK_WITH_FILES_MS = 5_000;

/** `svc send <fiber|address> [text]`: writes to the worker of a fiber, or to a session (MSG-1). */
export const verb = defineVerb({
  summary: 'Write to a running worker',
  arguments: {
    to: argument(
      '<fiber|address>',
      'a fiber with a running worker, the id of a session, or svc://HOST/HARNESS/SESSION',
      { completes: 'fibers' },
    ),
    text: argument('[text]', 'the message; with - or without it, it is read from standard input'),
  },
  options: {
    from: option('--from <name>', 'who writes; default: this session, else you'),
    id: option('--id <id>', 'id of the message: the same id is never delivered twice'),
    file: repeated('--file <path>', 'a file for the agent; up to 8, of 20 MiB together'),
    context: option('--context', 'add it to the next turn, without starting one; needs svc setup'),
    wait: choice('--wait <stage>', STAGES, 'wait until its receipt has come so far'),
    host: ON_HOST,
    dry_run: DRY_RUN,
  },
  examples: [
    ['svc send say-hello "Please add a test."', 'writes to the worker of the fiber'],
    ['svc send say-hello - --wait accepted < note.md', 'sends a text, and waits until the agent answers'],
    ['svc send say-hello "What fails here?" --file run.log --file shot.png', 'sends two files with it'],
    [
      'svc send say-hello --context "The tests are slow today."',
      'is read with the next turn, and starts none',
    ],
  ],
  page: 'messages.md',
  json: receiptSchema,
  exits: { 1: 'it was rejected, or the stage of --wait did not come' },
  async run(context, { to, text, from, id, file, context: as_context = false, wait, host, dry_run, json }) {
    const stages = stagesOf({ wake: !as_context });
    if (wait !== undefined && !stages.includes(wait))
      throw new CodedError(
        'invalid_request',
        `--wait takes ${stages.join(', ')} for a message ${as_context ? 'with' : 'without'} --context`,
      );
    const daemon = await connectDaemon(readSettings(context.env));
    const attachments = file === undefined ? undefined : readMessageFiles(file, context.cwd);
    const body: MessageRequest | FileMessageRequest = {
      address: await addressOf(context, daemon, { to, host }, as_context),
      text: text === undefined || text === '-' ? await readAll(context) : text,
      from: from ?? senderOf(context),
      message_id: id ?? randomUUID(),
      ...(as_context ? { wake: false } : {}),
      attachments,
    };
    if (dry_run === true) return rehearseRequest(daemon, pathOf(body), body);
    const first = await whileTelling(context, 'The message is given', () => firstReceipt(daemon, body));
    const receipt =
      wait === undefined || isOver(first, wait, stages)
        ? first
        : await whileWaiting(context, { first, wait, json }, () => laterReceipt(daemon, body, first, wait));
    const reached = wait === undefined || hasReached(receipt, wait, stages);
    return {
      json: receipt,
      text: Number.isFinite(context.width) ? receiptLine(receipt) : receiptLines(receipt),
      exit: receipt.status !== 'rejected' && reached ? EXIT.ok : EXIT.refused,
    };
  },
});

function pathOf({ attachments }: MessageRequest | FileMessageRequest): string {
  return attachments === undefined ? '/messages' : '/messages/files';
}

/** For a person: how far it came. */
function receiptLine(receipt: Receipt): string {
  const { detail, files } = receipt;
  return `${stageWords(receipt)}: ${detail}\n${fileLines(files)}`;
}

/** For an agent, which may ask for the receipt again or wait for an answer: with its address and its id. */
function receiptLines({ status, detail, address, message_id, files }: Receipt): string {
  return `${status}: ${detail}\n${address}, message ${message_id}\n${fileLines(files)}`;
}

function fileLines(files: Receipt['files'] = []): string {
  return files.map(({ name, path }) => `${name} is there as ${path}\n`).join('');
}

/** Whoever ends the wait at a terminal has read that the message was sent, and how far it came. */
function whileWaiting(
  context: CliContext,
  { first, wait, json }: { first: Receipt; wait: Stage; json: boolean | undefined },
  work: () => Promise<Receipt>,
): Promise<Receipt> {
  if (context.progress !== null && json !== true) context.err(receiptLine({ ...first, files: [] }));
  return whileTelling(context, `Waiting until it is ${STAGE_WORDS[wait]}`, work);
}

/** The same id asks for the receipt only; nothing is sent again (MSG-3). */
async function laterReceipt(
  daemon: DaemonClient,
  body: MessageRequest | FileMessageRequest,
  first: Receipt,
  wait: Stage,
): Promise<Receipt> {
  const stages = stagesOf(body);
  const until = Date.now() + WAIT_MS;
  let receipt = first;
  let failure: CodedError | null = null;
  while (!isOver(receipt, wait, stages)) {
    // An answer that is missing may come at the next look; a refusal stays one.
    if (Date.now() >= until || (failure !== null && !tellsNothing(failure))) break;
    await sleep(body.attachments === undefined ? LOOK_MS : LOOK_WITH_FILES_MS);
    try {
      receipt = await daemon.post(pathOf(body), body, receiptSchema);
      failure = null;
    } catch (error) {
      if (!isCoded(error)) throw error;
      failure = error;
    }
  }
  if (failure === null) return receipt;
  const detail = `${receipt.detail}; its further stages could not be asked for: ${failure.message}`;
  return { ...receipt, detail };
}

/** Whoever gets no receipt learns the id by which the message can be sent again. */
async function firstReceipt(
  daemon: DaemonClient,
  body: MessageRequest | FileMessageRequest,
): Promise<Receipt> {
  try {
    return await daemon.post(pathOf(body), body, receiptSchema);
  } catch (error) {
    if (isCoded(error, 'wrong_host')) throw await withNearHost(daemon, body.address, error);
    if (!isCoded(error) || !tellsNothing(error)) throw error;
    const { message_id } = body;
    const again = `Send it again with --id ${message_id}; it is delivered once.`;
    throw new CodedError(error.code, `${error.message.replace(/\.?$/, '.')} ${again}`, {
      details: { ...error.details, message_id },
      cause: error,
    });
  }
}

/** The refusal of an address whose host is not known, with the one that may be meant. */
async function withNearHost(daemon: DaemonClient, address: string, error: CodedError): Promise<CodedError> {
  const known = await knownHosts(daemon).catch(() => []);
  const question = didYouMean(parseAddress(address).host, known);
  const { code, message, details } = error;
  return question === ''
    ? error
    : new CodedError(code, `${message.replace(/\.?$/, '.')}${question}`, { details, cause: error });
}

/** Whether an error leaves open what became of the message (MSG-5). */
function tellsNothing({ code }: CodedError): boolean {
  return statusOf(code) >= 500;
}

function hasReached({ status, transport }: Receipt, wait: Stage, stages: readonly Stage[]): boolean {
  // What is held was not given to the session yet.
  if (transport === 'held') return false;
  return stages.some((stage, at) => stage === status && at >= stages.indexOf(wait));
}

function isOver(receipt: Receipt, wait: Stage, stages: readonly Stage[]): boolean {
  return receipt.status === 'rejected' || hasReached(receipt, wait, stages);
}

function stagesOf({ wake }: Pick<MessageRequest, 'wake'>): readonly Stage[] {
  return wake === false ? OF_CONTEXT : OF_WAKE;
}

/** Of an address, of the worker of a fiber, or of the running session with that id (MSG-1). */
async function addressOf(
  context: CliContext,
  daemon: DaemonClient,
  { to, host }: { to: string; host: string | undefined },
  as_context: boolean,
): Promise<string> {
  if (looksLikeAddress(to)) return printAddress(parseAddress(to));
  try {
    return await addressOfFiber(context, { fiber: to, host }, as_context);
  } catch (error) {
    const address = isCoded(error, 'fiber_not_found') ? await addressOfSession(daemon, to, host) : null;
    if (address === null) throw error;
    return address;
  }
}

async function addressOfFiber(
  context: CliContext,
  { fiber: reference, host: named }: { fiber: string; host: string | undefined },
  as_context: boolean,
): Promise<string> {
  const { fiber, host: other } = await readFiber(context, reference, named);
  const host = other ?? thisHost(context);
  const address = sessionOf(fiber.runtime, host) ?? (as_context ? lastSessionOf(fiber, host) : null);
  if (address !== null) return address;
  throw new CodedError(
    'no_worker',
    `no worker of ${fiber.id} can be written to; start one with: svc dispatch ${shellWord(fiber.id)} --message "…"`,
  );
}

/** Context may wait for a conversation that the next start goes on with; after a handoff that is none. */
function lastSessionOf({ svc }: FiberRow, host: string): string | null {
  return svc?.runtime?.handed_off_at === undefined ? sessionOf(svc?.runtime, host) : null;
}

function sessionOf(
  runtime: { harness?: string | undefined; session_uuid?: string | null | undefined } | undefined,
  host: string,
): string | null {
  const harness = harnessNameSchema.safeParse(runtime?.harness ?? '');
  const native_id = runtime?.session_uuid ?? null;
  return native_id === null || !harness.success
    ? null
    : printAddress({ host, harness: harness.data, native_id });
}

/** The session of the agent that runs the command, so that the recipient can answer; else the user's name. */
function senderOf(context: CliContext): string {
  const session = ownSession(context);
  return session === null ? userInfo().username : printAddress(session);
}

async function readAll(context: CliContext): Promise<string> {
  const text = await readText(context.stdin);
  if (text.trim() !== '') return text.replace(/\n$/, '');
  throw new CodedError(
    'invalid_request',
    'there is no text to send; write it as an argument, or to standard input',
  );
}
