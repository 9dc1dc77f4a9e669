import { CodedError, isCoded } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type ErrorCode, isAppFailure, statusOf } from '../contract/error-codes.ts';
import type { Reply } from './reply.ts';

/** A body that is on its way takes seconds, not minutes. */
const RETRY_SOON = { 'Retry-After': '2' };

/**
 * The one place where an error becomes an answer. A coded error shows its code, sentence and details;
 * anything else, and every fault (500), shows none of its insides: those go to the log under the request id.
 */
export function replyOfError(error: unknown, logger: Logger, request_id: string): Reply {
  const status = isCoded(error) ? statusOf(error.code) : 500;
  if (isCoded(error) && status !== 500) {
    const json = { ...shownDetails(error), error: error.code, message: error.message };
    return error.code === 'memory_full' ? { status, json, headers: RETRY_SOON } : { status, json };
  }
  logger.error({ err: error, request_id }, 'request failed');
  const message = `The daemon failed; its log has the error under request ${request_id}.`;
  return { status: 500, json: { error: 'internal', message } };
}

/** Whether a request reached the app server matters to the daemon only. */
function shownDetails({ code, details }: CodedError): Record<string, unknown> {
  if (!isAppFailure(code)) return details;
  const { sent: _sent, ...shown } = details;
  return { ...shown, reason: code };
}

/** A refusal by the kernel itself, with the status its code has in the contract. */
export function refusal(code: string, message: string, details: Record<string, unknown> = {}): CodedError {
  return new CodedError(code, message, { details });
}

/** The JSON of a refusal that a transport gives by itself, before there is a request. */
export function errorBody(code: ErrorCode, message: string): string {
  return JSON.stringify({ error: code, message });
}
