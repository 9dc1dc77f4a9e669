import { join } from 'node:path';
import { z } from 'zod';
import { CodedError } from '../../base/errors.ts';
import { readSettings } from '../../config/settings.ts';
import { type FiberDocument, fiberDocumentSchema } from '../../contract/fiber.ts';
import { rehearsedWrite } from '../../fibers/rehearsed-write.ts';
import { planHandoff } from '../../lifecycle/service-verbs.ts';
import { writeFileAtomic } from '../../platform/atomic-write.ts';
import { argument, DRY_RUN, STORE } from '../command-line/options.ts';
import { printOutcome } from '../command-line/output.ts';
import { rehearsed } from '../command-line/rehearsal.ts';
import { type CliContext, defineVerb } from '../command-line/verb.ts';
import { findInStores } from '../find-fiber.ts';
import { ownFiber } from './capture-session.ts';
import { endSession } from './handoff/end-session.ts';
import { findOwnRun } from './handoff/own-run.ts';

/**
 * `svc handoff [fiber]`: a worker ends its own run (LIF-7). Stamps the document, records the reason in the run's
 * folder, then ends the agent that called it. An app conversation continues but no longer belongs to the fiber. Outside
 * a run it only stamps the document.
 */
export const verb = defineVerb({
  summary: 'End this worker’s run; the next one starts fresh',
  arguments: { fiber: argument('[fiber]', 'canonical id, uid or leaf; the fiber of this run otherwise') },
  options: { store: STORE, dry_run: DRY_RUN },
  examples: [['svc handoff', 'typed by the worker as its last command']],
  json: z.object({ fiber: fiberDocumentSchema, ends_session: z.boolean() }),
  async run(context, given) {
    const named = given.fiber ?? context.env.SVC_FIBER_UID ?? context.env.SVC_FIBER ?? ownFiber(context);
    if (!named)
      throw new CodedError('invalid_request', 'name the fiber, or call this from a worker that svc started');
    const { store, id } = await findInStores(context, named, given.store);
    const plan = (document: FiberDocument) => planHandoff(document, context.clock.now());
    if (given.dry_run === true) {
      const shown = store.planEdit(id, plan);
      const runDir = context.env.SVC_RUN_DIR || (await ownRun(context, shown.document.uid));
      return rehearsed(rehearsedWrite(runDir ? 'end this run and stamp' : 'stamp', shown));
    }
    const { body: _body, ...fiber } = await store.update(id, plan);
    const runDir = context.env.SVC_RUN_DIR || (await ownRun(context, fiber.uid));
    const isApp = context.env.SVC_SURFACE === 'app';
    if (runDir !== null) {
      const end = { reason: 'handoff', at: context.clock.now() };
      writeFileAtomic(join(runDir, 'end.json'), `${JSON.stringify(end)}\n`, { mode: 0o600 });
    }
    const answer = {
      json: { fiber, ends_session: runDir !== null && !isApp },
      text: `${fiber.id}: handed off\n${afterStamp(runDir, isApp)}`,
      one_line: true,
    } as const;
    if (runDir === null || isApp) return answer;
    // Printed before the session ends, because this command may end with it.
    const code = printOutcome(context, answer, given.json === true);
    const ended = await endSession(runDir, { hangUpMs: 2_000, terminateMs: 3_000 });
    if (ended !== 'ended' && given.json !== true) context.show(`The session was not ended: ${ended}\n`);
    return code;
  },
});

/** What happens to a session that is not ended. */
function afterStamp(runDir: string | null, isApp: boolean): string {
  if (runDir === null)
    return 'This is no worker’s session: the document is stamped, and no session is ended.\n';
  return isApp ? 'The conversation stays; it is no longer the worker of the fiber.\n' : '';
}

async function ownRun(context: CliContext, uid: string | null): Promise<string | null> {
  return uid === null ? null : findOwnRun(readSettings(context.env).data_dir, uid);
}
