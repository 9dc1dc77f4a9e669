/**
 * Header with the id that a caller gives a write: the same write again under it takes effect once, and has the first
 * answer. It is written as a message id.
 */
export const IDEMPOTENCY_KEY_HEADER = 'idempotency-key';
