import type { Rehearsal } from '../contract/http/rehearsal.ts';
import type { CallInput } from '../contract/threads/call-table.ts';
import type { pollerCalls } from '../contract/threads/poller.ts';
import type { Reply } from '../http/row.ts';
import type { Callers } from './callers.ts';

/**
 * Answers a write that came with `dry_run`: 200 with the rehearsal, or the status and body of the refusal that the
 * real request would meet. A route that writes calls this first.
 */
export async function rehearse(
  poller: Callers['poller'],
  asked: CallInput<typeof pollerCalls, 'rehearse'>,
): Promise<Reply> {
  const answer: Rehearsal | { dispatched: false } = await poller.call('rehearse', asked);
  return { status: 'dry_run' in answer ? 200 : 422, json: answer };
}
