import type { z } from 'zod';
import type { ErrorCode } from '../../contract/error-codes.ts';
import type { LifecycleAnswer, LifecycleRequest } from '../../contract/http/lifecycle.ts';

/** The program of `SVC_CLI`, which runs the verbs in place of the bundled ones. */
export type ExternalCli = {
  /** One lifecycle verb; a refusal is an answer. */
  run(request: LifecycleRequest): Promise<LifecycleAnswer>;
  /**
   * What a command answers to `--json`. A refusal is thrown with its sentence and `code`; an answer of another shape is
   * `cli_unavailable`.
   */
  ask<T>(args: readonly string[], schema: z.ZodType<T>, code: ErrorCode): Promise<T>;
};
