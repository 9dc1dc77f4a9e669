/**
 * An error whose `code` says what the receiver should do. Every boundary uses this shape: threads, HTTP, the CLI. Codes
 * are lower snake case and listed in `contract/error-codes.ts`; never match on `message`.
 */
export class CodedError extends Error {
  override name = 'CodedError';
  readonly code: string;
  /** Extra fields a caller may show or branch on. Plain JSON only, because errors cross threads. */
  readonly details: Record<string, unknown>;

  constructor(
    code: string,
    message: string,
    options: { details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** True for a `CodedError`, or for one with the given code. */
export function isCoded(error: unknown, code?: string): error is CodedError {
  return error instanceof CodedError && (code === undefined || error.code === code);
}

/** The `errno` code of a Node system error (`ENOENT`, …), or undefined for anything else. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' && 'syscall' in error ? error.code : undefined;
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
