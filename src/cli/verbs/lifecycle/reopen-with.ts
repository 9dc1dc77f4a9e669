import { text as readText } from 'node:stream/consumers';
import { CodedError } from '../../../base/errors.ts';
import { shellWord } from '../../../base/shell-word.ts';
import { svcOf } from '../../../config/own-command.ts';
import { readSettings, type Settings } from '../../../config/settings.ts';
import type { FiberDocument } from '../../../contract/fiber.ts';
import { type DispatchRequest, dispatchedSchema, refusedSchema } from '../../../contract/http/dispatch.ts';
import { watchLine } from '../../command-line/output.ts';
import { rehearseRequest } from '../../command-line/rehearsal.ts';
import type { Answer, CliContext, Given } from '../../command-line/verb.ts';
import { connectDaemon, type DaemonClient, errorOf } from '../../daemon-client/client.ts';
import { fiberPath } from '../../daemon-client/fiber-path.ts';
import { atItsPlace, type NamedFiber } from '../../fiber-place.ts';
import { fiberWrittenSchema, type WRITE } from './write.ts';

/**
 * Takes a closed fiber up again with a word to its worker. The daemon arms the document and starts the worker in one
 * request, so that the words are in the prompt of exactly one: where the start is refused, nothing is written, and nothing
 * keeps them for another. Where somebody else has started one meanwhile, the words are a message to that one.
 */
export async function reopenWith(
  context: CliContext,
  given: NamedFiber & Given<typeof WRITE>,
  words: string,
): Promise<Answer> {
  if (given.local === true)
    throw new CodedError('invalid_request', 'a message is told by the daemon; leave --local out');
  const message = words === '-' ? await readText(context.stdin) : words;
  if (message.trim() === '')
    throw new CodedError('invalid_request', 'the message is empty; write what the next worker is to be told');
  const settings = readSettings(context.env);
  const reopened = (connect: Reopening['connect'], read: Reopening['read']) =>
    reopen(settings, { message, dry_run: given.dry_run === true, json: given.json === true, connect, read });
  return atItsPlace(context, given, {
    here: ({ store, id }) =>
      reopened(
        () => connectDaemon(settings),
        () => {
          const { body: _body, ...fiber } = store.read(id);
          return fiber;
        },
      ),
    elsewhere: ({ daemon, fiber }) =>
      reopened(
        () => daemon,
        async () => (await daemon.get(`/fibers/${fiberPath(fiber)}`, fiberWrittenSchema)).fiber,
      ),
  });
}

type Reopening = {
  message: string;
  dry_run: boolean;
  json: boolean;
  connect(): DaemonClient | Promise<DaemonClient>;
  /** The document as it is now. */
  read(): FiberDocument | Promise<FiberDocument>;
};

async function reopen(
  settings: Settings,
  { message, dry_run, json, connect, read }: Reopening,
): Promise<Answer> {
  const { id, status } = await read();
  const svc = svcOf(settings);
  if (status !== 'closed')
    throw new CodedError(
      'invalid_request',
      `${id} is not closed; write to its worker with: ${svc} send ${shellWord(id)} '…', or start one with: ${svc} dispatch ${shellWord(id)} --message '…'`,
    );
  const daemon = await connect();
  const body: DispatchRequest = { fiber_id: id, user_message: message };
  if (dry_run) return rehearseRequest(daemon, '/dispatch', body);
  const answer = await daemon.request('POST', '/dispatch', body);
  const refused = refusedSchema.safeParse(answer.body);
  if (refused.success)
    throw new CodedError(refused.data.reason, `${id} stays closed: ${refused.data.message}`);
  const launched = dispatchedSchema.safeParse(answer.body);
  if (!launched.success) throw errorOf(answer, '/dispatch');
  const run = launched.data;
  const { receipt } = run;
  if (receipt?.status === 'rejected')
    throw new CodedError(
      'conflict',
      `a worker of ${id} runs already, and was not told your message: ${receipt.detail}`,
    );
  const how = run.resumed === true ? 'goes on with' : 'works on';
  // What became of a message to a worker that somebody else has started is one of the notes.
  const told = receipt === undefined ? ', and is told your message' : '';
  const notes = (run.notes ?? []).map((note) => `Note: ${note}\n`).join('');
  return {
    json: json ? { fiber: await read() } : null,
    text: `${run.agent} ${how} ${id}${told}.\n${notes}${run.mux_session === null ? '' : watchLine(settings, id)}`,
    one_line: true,
  };
}
