import { z } from 'zod';
import { CodedError } from '../base/errors.ts';
import { jsonOf } from '../base/json-text.ts';
import type { LifecycleAnswer, LifecycleRequest } from '../contract/http/lifecycle.ts';
import { lifecycleArgv } from '../lifecycle/command-line.ts';
import type { ProcessRunner } from '../platform/process.ts';
import type { ExternalCli } from './world/external-cli.ts';

const MOST_OUTPUT_BYTES = 1024 * 1024;

/**
 * An external CLI as the bundled one is used: the same arguments, exit status and text. Throws `cli_unavailable` when it
 * cannot be started and `cli_timed_out` when it does not end in time, in milliseconds; nothing is then known of the write.
 */
export function createExternalCli(options: {
  file: string;
  env(): Record<string, string | undefined>;
  runner: Pick<ProcessRunner, 'run'>;
  timeout_ms: number;
}): ExternalCli {
  const { file, env, runner, timeout_ms } = options;
  async function execute(args: readonly string[]): Promise<LifecycleAnswer> {
    const result = await runner.run({
      file,
      args,
      env: env(),
      timeout_ms,
      max_output_bytes: MOST_OUTPUT_BYTES,
    });
    switch (result.kind) {
      case 'exited':
        if (result.code === 0) return { status: 0, text: result.stdout, error: null };
        return { status: result.code, text: sentenceOf(result), error: 'refused' };
      case 'timed_out':
        throw new CodedError(
          'cli_timed_out',
          `${file} did not end within ${timeout_ms / 1000} s; look at what it may have written before trying again`,
        );
      default:
        throw new CodedError(
          'cli_unavailable',
          `SVC_CLI is ${file}, which could not be run to its end (${result.kind}); fix it or unset SVC_CLI`,
        );
    }
  }
  return {
    run(request) {
      // Workers belong to the daemon, which ends them itself.
      const { kill: _kill, ...rest } = { kill: undefined, ...request };
      return execute(lifecycleArgv(rest as LifecycleRequest));
    },
    async ask(args, schema, code) {
      const { status, text } = await execute(args);
      if (status !== 0) throw new CodedError(code, messageIn(text));
      const parsed = schema.safeParse(jsonOf(text));
      if (parsed.success) return parsed.data;
      throw new CodedError(
        'cli_unavailable',
        `SVC_CLI is ${file}, and \`${file} ${args.join(' ')}\` gave another answer than svc does; fix it or unset SVC_CLI`,
      );
    },
  };
}

/** The sentence of an error that was printed as JSON, else the text as it is. */
function messageIn(text: string): string {
  const told = z.object({ message: z.string() }).safeParse(jsonOf(text));
  return told.success ? told.data.message : text;
}

function sentenceOf(result: { stdout: string; stderr: string }): string {
  const text = result.stderr.trim() === '' ? result.stdout : result.stderr;
  return text.trim().replace(/^svc: /, '');
}
