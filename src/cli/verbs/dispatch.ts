import { z } from 'zod';
import { resolveDirectory } from '../../config/resolve-directory.ts';
import { readSettings } from '../../config/settings.ts';
import { type DispatchRequest, dispatchedSchema, refusedSchema } from '../../contract/http/dispatch.ts';
import { rehearsalSchema } from '../../contract/http/rehearsal.ts';
import { endsWorkers } from '../command-line/confirm.ts';
import { AGENT, choice, DRY_RUN, ON_HOST, option, SERVED_FIBER } from '../command-line/options.ts';
import { watchLine } from '../command-line/output.ts';
import { rehearsed } from '../command-line/rehearsal.ts';
import { whileTelling } from '../command-line/spinner.ts';
import { defineVerb, EXIT } from '../command-line/verb.ts';
import { errorOf } from '../daemon-client/client.ts';
import { askForFiber } from '../daemon-client/daemon-of-fiber.ts';

/** `svc dispatch <fiber>`: starts a worker now (WPL-1). */
export const verb = defineVerb({
  summary: 'Start a worker for a fiber now',
  arguments: { fiber: SERVED_FIBER },
  options: {
    force: option('--force', 'end a worker that runs, and start a fresh one'),
    agent: { ...AGENT, description: 'agent that the fiber is given' },
    because_limit: option(
      '--because-limit',
      'hand over from an agent that is over its usage limit, to --agent or the next of svc.on_limit',
    ),
    message: option(
      '--message <text>',
      'what to tell the worker besides the fiber; one that runs already is sent it',
    ),
    project_dir: option('--project-dir <dir>', 'folder to work in; it is saved in the fiber'),
    ad_hoc: option('--ad-hoc', 'run a standing role outside its schedule'),
    despite_brake: option('--despite-brake', 'start although `svc stop-all` is in force'),
    host: ON_HOST,
    dry_run: DRY_RUN,
    resume_mode: choice(
      '--resume-mode <mode>',
      ['previous', 'fresh', 'continue'],
      'previous: resume the last conversation; fresh: start a new one; continue: decide as for a oneshot',
    ),
  },
  examples: [
    [
      'svc dispatch reviewer --message "Look at the last commit."',
      'starts it now, with a word to the worker',
    ],
    [
      'svc dispatch parser --agent codex-high --because-limit --dry-run',
      'shows what another agent would be told at a usage limit',
    ],
    ['svc dispatch say-hello --force', 'ends the worker that runs, and starts a fresh one'],
  ],
  page: 'resume.md',
  json: z.union([dispatchedSchema, refusedSchema]),
  asks: ({ force }, shown) => force === true && endsWorkers(shown),
  exits: { 1: 'the launch was refused, or the worker that runs already was not told the message' },
  async run(context, given) {
    const { fiber, message, project_dir, force, ad_hoc, despite_brake, dry_run, resume_mode } = given;
    const { agent, because_limit } = given;
    const { answer, refused, host } = await askForFiber(context, { fiber, host: given.host }, async (of) => {
      const body: DispatchRequest = {
        fiber_id: of.fiber,
        force,
        agent,
        because_limit,
        user_message: message,
        // A folder of another host is for that one to find.
        project_dir:
          project_dir === undefined || of.host !== null
            ? project_dir
            : resolveDirectory(project_dir, context.cwd),
        ad_hoc,
        despite_brake,
        resume_mode,
        dry_run,
      };
      const answer = await whileTelling(context, 'The worker starts', () =>
        of.daemon.request('POST', '/dispatch', body),
      );
      const refused = refusedSchema.safeParse(answer.body);
      if (!refused.success && answer.status === 404) throw errorOf(answer, '/dispatch');
      return { answer, refused, host: of.host };
    });
    if (refused.success) {
      const { message, needs } = refused.data;
      const warnings = [`${message}${needs === undefined ? '' : '; name the folder with --project-dir'}`];
      return { json: refused.data, text: '', warnings, exit: EXIT.refused };
    }
    const shown = rehearsalSchema.safeParse(answer.body);
    if (shown.success) return rehearsed(shown.data);
    const launched = dispatchedSchema.safeParse(answer.body);
    if (!launched.success) throw errorOf(answer, '/dispatch');
    const run = launched.data;
    const how = run.already_running ? 'runs already' : run.resumed ? 'resumed' : 'started';
    const text = [
      `${run.fiber_id} ${how}: ${run.agent}${run.mux_session === null ? ' in its app' : ''}\n`,
      ...(run.notes ?? []).map((note) => `Note: ${note}\n`),
      host === null && run.mux_session !== null ? watchLine(readSettings(context.env), run.fiber_id) : '',
    ];
    return {
      json: run,
      text: text.join(''),
      exit: run.receipt?.status === 'rejected' ? EXIT.refused : EXIT.ok,
    };
  },
});
