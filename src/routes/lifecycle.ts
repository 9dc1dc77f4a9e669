import { z } from 'zod';
import { isCoded } from '../base/errors.ts';
import { statusOf } from '../contract/error-codes.ts';
import { refusedSchema } from '../contract/http/dispatch.ts';
import {
  LIFECYCLE_ACTIONS,
  type LifecycleRequest,
  lifecycleRequestSchema,
  REFUSAL_CODE_HEADER,
  transitionedSchema,
  transitionRefusedSchema,
  transitionRequestSchema,
} from '../contract/http/lifecycle.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { defineRow, type Reply, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import { rehearse } from './rehearsal.ts';

const REQUEST_LIMIT = 1024 * 1024;

/** The verbs of the service and the columns of the board (WPL-2, WPL-3). */
export function lifecycleRows(callers: Pick<Callers, 'poller'>): Row[] {
  const { poller } = callers;
  return [
    defineRow({
      method: 'POST',
      path: '/api/v1/lifecycle',
      who: 'operator',
      state: 'ready',
      // What is wrong with the fields is answered as text, like everything of this route.
      body: z.looseObject({ origin: z.string().optional() }),
      body_limit: REQUEST_LIMIT,
      // A rehearsal is JSON where the verb itself answers text.
      replies: { 200: { text_or: rehearsalSchema }, 400: 'text', 422: 'text' },
      async handler({ body }) {
        const request = lifecycleRequestSchema.safeParse(body);
        if (!request.success) return text(400, sentenceOf(body, request.error));
        if (request.data.dry_run === true) return rehearseVerb(poller, request.data);
        const answer = await poller.call('lifecycle', request.data);
        if (answer.status === 0) return text(200, answer.text);
        return text(422, `svc exited ${answer.status}: ${answer.text.trimEnd()}\n`, answer.error);
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/transition',
      who: 'operator',
      state: 'ready',
      body: transitionRequestSchema,
      body_limit: REQUEST_LIMIT,
      replies: {
        200: transitionedSchema.or(rehearsalSchema),
        422: transitionRefusedSchema.or(refusedSchema),
      },
      async handler({ body }) {
        if (body.dry_run === true) return rehearse(poller, { write: 'transition', request: body });
        const answer = await poller.call('transition', body);
        return { status: answer.invoked ? 200 : 422, json: answer };
      },
    }),
  ];
}

/** A verb that would be refused is refused in the words of the verb. */
async function rehearseVerb(poller: Callers['poller'], request: LifecycleRequest): Promise<Reply> {
  try {
    return await rehearse(poller, { write: 'lifecycle', request });
  } catch (error) {
    if (!isCoded(error) || statusOf(error.code) >= 500) throw error;
    return text(422, `svc exited 1: ${error.message}\n`, error.code);
  }
}

function text(status: number, body: string, code: string | null = null): Reply {
  return {
    status,
    bytes: Buffer.from(body),
    content_type: 'text/plain; charset=utf-8',
    ...(code === null ? {} : { headers: { [REFUSAL_CODE_HEADER]: code } }),
  };
}

/** The first thing that is wrong with a request (ERR-2). */
function sentenceOf(body: Record<string, unknown>, error: z.ZodError): string {
  const { action } = body;
  if (action === undefined) return `the field "action" is missing; it takes one of ${known()}\n`;
  if (!LIFECYCLE_ACTIONS.some((name) => name === action))
    return `unknown action ${JSON.stringify(action)}; it takes one of ${known()}\n`;
  const [issue] = error.issues;
  if (issue?.code === 'unrecognized_keys')
    return `${action} has no field ${issue.keys.map((key) => `"${key}"`).join(', ')}\n`;
  const field = issue?.path.join('.') ?? '';
  const missing = field !== '' && !Object.hasOwn(body, field);
  return missing
    ? `the field "${field}" is missing; ${action} needs it\n`
    : `the field "${field}" of ${action} is not valid: ${issue?.message}\n`;
}

function known(): string {
  return LIFECYCLE_ACTIONS.join(', ');
}
