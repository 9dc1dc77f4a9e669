import { type LifecycleAnswer, REFUSAL_CODE_HEADER } from '../contract/http/lifecycle.ts';
import type { Reply } from '../http/row.ts';

/** What a lifecycle verb answered, in the texts of `POST /lifecycle` (WPL-3). */
export function verbReply(answer: LifecycleAnswer): Reply {
  if (answer.status === 0) return textReply(200, answer.text);
  return textReply(422, `svc exited ${answer.status}: ${answer.text.trimEnd()}\n`, answer.error);
}

/** An answer as plain text; `code` is that of its error. */
export function textReply(status: number, body: string, code: string | null = null): Reply {
  return {
    status,
    bytes: Buffer.from(body),
    content_type: 'text/plain; charset=utf-8',
    ...(code === null ? {} : { headers: { [REFUSAL_CODE_HEADER]: code } }),
  };
}
