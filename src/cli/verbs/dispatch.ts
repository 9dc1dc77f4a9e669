import { Option } from 'commander';
import { resolveDirectory } from '../../config/resolve-directory.ts';
import { readSettings } from '../../config/settings.ts';
import { type DispatchRequest, dispatchedSchema, refusedSchema } from '../../contract/http/dispatch.ts';
import { rehearsalSchema } from '../../contract/http/rehearsal.ts';
import { printJson } from '../command-line/output.ts';
import { DRY_RUN, printRehearsal } from '../command-line/rehearsal.ts';
import { type CliContext, EXIT, type ExitCode, type Verb } from '../command-line/verb.ts';
import { connectDaemon, errorOf } from '../daemon-client/client.ts';

type Options = {
  force?: boolean;
  adHoc?: boolean;
  despiteBrake?: boolean;
  message?: string;
  projectDir?: string;
  resumeMode?: ResumeMode;
  dryRun?: boolean;
  json?: boolean;
};
type ResumeMode = NonNullable<DispatchRequest['resume_mode']>;

/** `svc dispatch <fiber>`: starts a worker now (WPL-1). */
export const verb: Verb = {
  name: 'dispatch',
  summary: 'Start a worker for a fiber now',
  register(command, context, exit) {
    command
      .argument('<fiber>', 'canonical id or uid')
      .option('--force', 'end a worker that runs, and start a fresh one')
      .option('--message <text>', 'what to tell the worker besides the fiber')
      .option('--project-dir <dir>', 'folder to work in; it is saved in the fiber')
      .option('--ad-hoc', 'a run of a standing role outside its schedule')
      .option('--despite-brake', 'start although `svc stop-all` is in force')
      .option(...DRY_RUN)
      .addOption(
        new Option(
          '--resume-mode <mode>',
          'previous: go on with the last conversation; fresh: begin a new one; continue: by the rule for oneshots',
        ).choices(['previous', 'fresh', 'continue']),
      )
      .option('--json', 'answer as JSON')
      .action(async (fiber: string, options: Options) => exit(await run(context, fiber, options)));
  },
};

async function run(context: CliContext, fiber: string, options: Options): Promise<ExitCode> {
  const body: DispatchRequest = {
    fiber_id: fiber,
    ...(options.force ? { force: true } : {}),
    ...(options.message === undefined ? {} : { user_message: options.message }),
    ...(options.projectDir === undefined
      ? {}
      : { project_dir: resolveDirectory(options.projectDir, context.cwd) }),
    ...(options.adHoc ? { ad_hoc: true } : {}),
    ...(options.despiteBrake ? { despite_brake: true } : {}),
    ...(options.resumeMode === undefined ? {} : { resume_mode: options.resumeMode }),
    ...(options.dryRun ? { dry_run: true } : {}),
  };
  const settings = readSettings(context.env);
  const answer = await (await connectDaemon(settings)).request('POST', '/dispatch', body);
  const refused = refusedSchema.safeParse(answer.body);
  if (refused.success) {
    if (options.json) printJson(context, refused.data);
    else context.err(`svc: ${refused.data.message}${needs(refused.data.needs)}\n`);
    return EXIT.refused;
  }
  const rehearsed = rehearsalSchema.safeParse(answer.body);
  if (rehearsed.success) {
    printRehearsal(context, rehearsed.data, options);
    return EXIT.ok;
  }
  const launched = dispatchedSchema.safeParse(answer.body);
  if (!launched.success) throw errorOf(answer, '/dispatch');
  const run = launched.data;
  if (options.json) printJson(context, run);
  else {
    const verbs = run.already_running ? 'runs already' : run.resumed ? 'resumed' : 'started';
    context.out(`${run.fiber_id} ${verbs}: ${run.agent} in ${run.mux_session ?? run.surface}\n`);
    for (const note of run.notes ?? []) context.out(`Note: ${note}\n`);
    if (run.mux_session !== null)
      context.out(`Watch it with: svc ${settings.demo ? 'demo ' : ''}attach ${run.mux_session}\n`);
  }
  return EXIT.ok;
}

function needs(field: 'project_dir' | undefined): string {
  return field === undefined ? '' : '; name the folder with --project-dir';
}
