import { join } from 'node:path';
import { CodedError } from '../../base/errors.ts';
import { readSettings } from '../../config/settings.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import { rehearsedWrite } from '../../fibers/rehearsed-write.ts';
import { planHandoff } from '../../lifecycle/service-verbs.ts';
import { writeFileAtomic } from '../../platform/atomic-write.ts';
import { DRY_RUN, printRehearsal } from '../command-line/rehearsal.ts';
import { type CliContext, EXIT, type Verb } from '../command-line/verb.ts';
import { findInStores } from '../find-fiber.ts';
import { ownFiber } from './capture-session.ts';
import { endSession } from './handoff/end-session.ts';
import { findOwnRun } from './handoff/own-run.ts';

type HandoffOptions = { store?: string; dryRun?: boolean; json?: boolean };

/**
 * `svc handoff [fiber]`: a worker ends its own run (LIF-7). Stamps the document, records the reason in the run's
 * folder, then ends the agent that called it; an app conversation stays, and is the fiber's no longer. Outside a
 * run it only stamps.
 */
export const verb: Verb = {
  name: 'handoff',
  summary: 'End this worker’s run; the next one starts fresh',
  register(command, context, exit) {
    command
      .argument('[fiber]', 'canonical id, uid or leaf; the fiber of this run otherwise')
      .option('--store <dir>', 'store to look in')
      .option(...DRY_RUN)
      .option('--json', 'print JSON')
      .action(async (reference: string | undefined, options: HandoffOptions) => {
        const named = reference ?? context.env.SVC_FIBER_UID ?? context.env.SVC_FIBER ?? ownFiber(context);
        if (!named) {
          throw new CodedError(
            'invalid_request',
            'name the fiber, or call this from a worker that svc started',
          );
        }
        const { store, id } = findInStores(context, named, options.store);
        const plan = (document: FiberDocument) => planHandoff(document, context.clock.now());
        if (options.dryRun === true) {
          const rehearsed = store.rehearse(id, plan);
          const runs = context.env.SVC_RUN_DIR || (await ownRun(context, rehearsed.document.uid));
          printRehearsal(
            context,
            rehearsedWrite(runs ? 'end this run and stamp' : 'stamp', rehearsed),
            options,
          );
          exit(EXIT.ok);
          return;
        }
        const { body: _body, ...fiber } = await store.update(id, plan);
        const runDir = context.env.SVC_RUN_DIR || (await ownRun(context, fiber.uid));
        const inRun = runDir !== null;
        const ends_session = inRun && context.env.SVC_SURFACE !== 'app';
        if (inRun) {
          const end = { reason: 'handoff', at: context.clock.now() };
          writeFileAtomic(join(runDir, 'end.json'), `${JSON.stringify(end)}\n`, { mode: 0o600 });
        }
        const say = (text: string) => {
          if (options.json !== true) context.out(`${text}\n`);
        };
        say(`${fiber.id}: handed off at ${fiber.svc?.runtime?.handed_off_at}`);
        if (options.json === true) context.out(`${JSON.stringify({ fiber, ends_session })}\n`);
        if (!inRun) say('No run folder (SVC_RUN_DIR): the document is stamped, no session is ended.');
        else if (context.env.SVC_SURFACE === 'app')
          say('The conversation stays; it is no longer the worker of the fiber.');
        else {
          const ended = await endSession(runDir, { hangUpMs: 2_000, terminateMs: 3_000 });
          if (ended !== 'ended') say(`The session was not ended: ${ended}`);
        }
        exit(EXIT.ok);
      });
  },
};

async function ownRun(context: CliContext, uid: string | null): Promise<string | null> {
  return uid === null ? null : findOwnRun(readSettings(context.env).data_dir, uid);
}
