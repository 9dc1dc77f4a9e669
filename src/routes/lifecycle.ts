import { z } from 'zod';
import { CodedError } from '../base/errors.ts';
import {
  actedSchema,
  type LifecycleAnswer,
  lifecycleBodySchema,
  lifecycleRequestSchema,
  MOVE_ACTIONS,
  REFUSAL_CODE_HEADER,
  type TransitionBody,
  transitionBodySchema,
  transitionedSchema,
  transitionRefusedSchema,
} from '../contract/http/lifecycle.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { type InputFault, placeOf, readInput } from '../contract/read-input.ts';
import type { Reply } from '../http/reply.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';

const REQUEST_LIMIT = 1024 * 1024;

/** The verbs of the service and the columns of the board (WPL-2, WPL-3). */
export function lifecycleRows(callers: Pick<Callers, 'poller'>): Row[] {
  const { poller } = callers;
  return [
    defineRow({
      method: 'POST',
      path: '/api/v1/lifecycle',
      summary: 'Runs one verb of the service on a fiber; answers the text that the command prints',
      example: { body: { fiber: 'say-hello', action: 'pause', dry_run: true } },
      page: 'lifecycle.md',
      routing: 'owner',
      state: 'ready',
      // What is wrong with the fields is answered as text, like everything of this route.
      body: z.looseObject({ origin: z.string().optional() }),
      described_body: lifecycleBodySchema,
      body_limit: REQUEST_LIMIT,
      // A rehearsal is JSON where the verb itself answers text.
      replies: { 200: { text_or: rehearsalSchema }, 400: 'text', 422: 'text' },
      async handler({ body }) {
        const request = readInput(lifecycleBodySchema, body);
        if (!request.success) return textReply(400, sentenceOf(body, request.faults));
        const answer = await poller.call('lifecycle', request.data);
        return 'dry_run' in answer ? { status: 200, json: answer } : verbReply(answer);
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/transition',
      summary: 'Moves a fiber to a column of the board',
      example: { body: { fiber_id: 'say-hello', target: 'drafts', dry_run: true } },
      page: 'lifecycle.md',
      routing: 'owner',
      state: 'ready',
      body: transitionBodySchema,
      body_limit: REQUEST_LIMIT,
      replies: { 200: transitionedSchema.or(actedSchema).or(rehearsalSchema), 422: transitionRefusedSchema },
      async handler({ body }) {
        const { fiber_id, target, expected_digest, origin, dry_run } = body;
        if (target === undefined) return act(poller, body);
        const answer = await poller.call('transition', {
          ...{ fiber_id, target, expected_digest, origin, dry_run },
        });
        return { status: 'reason' in answer ? 422 : 200, json: answer };
      },
    }),
  ];
}

/** Closes or reopens a fiber; throws the refusal of the verb. */
async function act(
  poller: Callers['poller'],
  { fiber_id, target: _none, ...fields }: TransitionBody,
): Promise<Reply> {
  const request = readInput(lifecycleRequestSchema, { ...fields, fiber: fiber_id });
  if (!request.success)
    throw new CodedError('invalid_request', sentenceOf(fields, request.faults).trim(), {
      details: { issues: request.faults.map(({ path, message }) => ({ path: placeOf(path), message })) },
    });
  const answer = await poller.call('lifecycle', request.data);
  if ('dry_run' in answer) return { status: 200, json: answer };
  if (answer.status !== 0) throw new CodedError(answer.error ?? 'invalid_request', answer.text.trim());
  return { status: 200, json: { fiber_id, action: fields.action, invoked: true, text: answer.text } };
}

/** The first thing that is wrong with a request (ERR-2). */
function sentenceOf(body: Record<string, unknown>, faults: readonly [InputFault, ...InputFault[]]): string {
  const { action } = body;
  if (action === undefined) return `the field "action" is missing; it takes one of ${known()}\n`;
  if (faults.some(({ path }) => path[0] === 'action')) {
    const moves = MOVE_ACTIONS.some((name) => name === action);
    const mend = moves ? `send it to POST /transition` : `it takes one of ${known()}`;
    return `unknown action ${JSON.stringify(action)}; ${mend}\n`;
  }
  const [{ path, message }] = faults;
  if (path.length === 0) return `${action} ${message}\n`;
  const field = placeOf(path);
  return Object.hasOwn(body, field)
    ? `the field "${field}" of ${action} ${message}\n`
    : `the field "${field}" is missing; ${action} needs it\n`;
}

function known(): string {
  return lifecycleBodySchema.options.map((option) => option.shape.action.value).join(', ');
}

/** What a lifecycle verb answered, in the texts of `POST /lifecycle` (WPL-3). */
function verbReply(answer: LifecycleAnswer): Reply {
  if (answer.status === 0) return textReply(200, answer.text);
  return textReply(422, `svc exited ${answer.status}: ${answer.text.trimEnd()}\n`, answer.error);
}

/** An answer as plain text; `code` is that of its error. */
function textReply(status: number, body: string, code: string | null = null): Reply {
  return {
    status,
    bytes: Buffer.from(body),
    content_type: 'text/plain; charset=utf-8',
    ...(code === null ? {} : { headers: { [REFUSAL_CODE_HEADER]: code } }),
  };
}
