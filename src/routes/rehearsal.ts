import { refusalStatus } from '../contract/error-codes.ts';
import type { CallInput } from '../contract/threads/call-table.ts';
import type { pollerCalls } from '../contract/threads/poller.ts';
import type { Reply } from '../http/row.ts';
import type { Callers } from './callers.ts';
import { verbReply } from './verb-reply.ts';

/**
 * Answers a write that came with `dry_run`: 200 with the rehearsal, or the status and body of the refusal that the
 * real request would meet. A route that writes calls this first.
 */
export async function rehearse(
  poller: Callers['poller'],
  asked: CallInput<typeof pollerCalls, 'rehearse'>,
): Promise<Reply> {
  const answer = await poller.call('rehearse', asked);
  if ('dry_run' in answer) return { status: 200, json: answer };
  if ('text' in answer) return verbReply(answer);
  const status = 'invoked' in answer ? 422 : refusalStatus(answer.reason);
  return { status, json: answer };
}
