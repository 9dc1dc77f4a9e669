import { resolve } from 'node:path';
import { CodedError } from '../../base/errors.ts';
import { readSettings } from '../../config/settings.ts';
import { surfaceSchema } from '../../contract/fiber.ts';
import { type CaptureRequest, capturedSchema, captureRefusedSchema } from '../../contract/http/capture.ts';
import { rehearsalSchema } from '../../contract/http/rehearsal.ts';
import { printJson } from '../command-line/output.ts';
import { DRY_RUN, printRehearsal } from '../command-line/rehearsal.ts';
import { type CliContext, EXIT, type ExitCode, type Verb } from '../command-line/verb.ts';
import { connectDaemon, errorOf } from '../daemon-client/client.ts';

type Options = {
  projectDir: string;
  agent?: string;
  effort?: string;
  store?: string;
  surface?: string;
  dryRun?: boolean;
  json?: boolean;
};

/** `svc capture <text>`: starts a worker that makes a fiber of a text and works on it (WPL-6). */
export const verb: Verb = {
  name: 'capture',
  summary: 'Have a worker make a fiber of a text and take it up',
  register(command, context, exit) {
    command
      .argument('<text>', 'what the fiber is about; - reads it from the standard input')
      .requiredOption('--project-dir <dir>', 'folder that the worker runs in')
      .option('--agent <id>', 'agent of the registry')
      .option('--effort <level>', 'effort of the agent')
      .option('--store <dir>', 'store that the fiber goes to')
      .option('--surface <surface>', 'cli or app')
      .option(...DRY_RUN)
      .option('--json', 'answer as JSON')
      .action(async (text: string, options: Options) => exit(await run(context, text, options)));
  },
};

async function run(context: CliContext, text: string, options: Options): Promise<ExitCode> {
  const settings = readSettings(context.env);
  const { agent, effort } = options;
  const surface = options.surface === undefined ? undefined : surfaceSchema.safeParse(options.surface);
  if (surface?.success === false)
    throw new CodedError('invalid_request', `"${options.surface}" is not a surface; it takes cli or app`);
  const body: CaptureRequest = {
    prompt: text === '-' ? await textOf(context.stdin) : text,
    project_dir: resolve(context.cwd, options.projectDir),
    ...(agent === undefined ? {} : { agent }),
    ...(effort === undefined ? {} : { effort }),
    ...(surface === undefined ? {} : { surface: surface.data }),
    ...(options.store === undefined ? {} : { store: resolve(context.cwd, options.store) }),
    ...(options.dryRun === true ? { dry_run: true } : {}),
  };
  const answer = await (await connectDaemon(settings)).request('POST', '/capture', body);
  const refused = captureRefusedSchema.safeParse(answer.body);
  if (refused.success) {
    if (options.json) printJson(context, refused.data);
    else context.err(`svc: ${refused.data.message}\n`);
    return EXIT.refused;
  }
  const rehearsed = rehearsalSchema.safeParse(answer.body);
  if (rehearsed.success) {
    printRehearsal(context, rehearsed.data, options);
    return EXIT.ok;
  }
  const captured = capturedSchema.safeParse(answer.body);
  if (!captured.success) throw errorOf(answer, '/capture');
  const { mux_session } = captured.data;
  if (options.json) printJson(context, captured.data);
  else {
    context.out(`captured: ${captured.data.agent} in ${mux_session ?? captured.data.surface}\n`);
    if (mux_session !== null)
      context.out(`Watch it with: svc ${settings.demo ? 'demo ' : ''}attach ${mux_session}\n`);
  }
  return EXIT.ok;
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
