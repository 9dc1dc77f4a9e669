import { CodedError } from '../../../base/errors.ts';
import { type NestedReply, type NestFiber, nestedSchema } from '../../../contract/http/fibers.ts';
import { nestFiber, planNest } from '../../../fibers/nest.ts';
import { rehearsedNest } from '../../../fibers/rehearsed-write.ts';
import { DRY_RUN, FIBER, ON_HOST, option, STORE } from '../../command-line/options.ts';
import { rehearsed, rehearseRequest } from '../../command-line/rehearsal.ts';
import { type Answer, defineVerb, EXIT } from '../../command-line/verb.ts';
import type { DaemonClient } from '../../daemon-client/client.ts';
import { atItsPlace } from '../../fiber-place.ts';
import { findInStores } from '../../find-fiber.ts';
import { daemonOf } from '../lifecycle/write.ts';

/** `svc fiber nest <fiber> --under <parent>`: moves a fiber with all fibers below it (WPL-12). */
export const verb = defineVerb({
  summary: 'File a fiber under another one, with its children; links to it are rewritten',
  arguments: { fiber: FIBER },
  options: {
    under: option('--under <parent>', 'fiber to file it under', { completes: 'fibers' }),
    top: option('--top', 'file it at the top of its store'),
    host: ON_HOST,
    store: STORE,
    dry_run: DRY_RUN,
  },
  examples: [['svc fiber nest say-hello --under work', 'files it elsewhere, with its children']],
  json: nestedSchema,
  exits: { 1: 'the links in a fiber were not rewritten' },
  async run(context, { under, top, dry_run, ...named }) {
    if ((under === undefined) === (top !== true))
      throw new CodedError('invalid_request', 'name either --under <parent> or --top');
    return atItsPlace(context, named, {
      async here({ store, id }) {
        const parent = under === undefined ? null : (await findInStores(context, under, store.root)).id;
        const daemon = await daemonOf(context, store.root);
        if (daemon !== null) return askToNest(daemon, { fiber_id: id, parent }, dry_run);
        if (dry_run === true) return rehearsed(rehearsedNest(await planNest(store, id, parent)));
        const { id: fiber_id, ...rest } = await nestFiber(store, id, parent);
        return answerOf({ fiber_id, ...rest });
      },
      elsewhere: ({ daemon, fiber }) =>
        askToNest(daemon, { fiber_id: fiber, parent: under ?? null }, dry_run),
    });
  },
});

async function askToNest(
  daemon: DaemonClient,
  body: NestFiber,
  dry_run: boolean | undefined,
): Promise<Answer> {
  if (dry_run === true) return rehearseRequest(daemon, '/fiber-nest', body);
  return answerOf(await daemon.post('/fiber-nest', body, nestedSchema));
}

function answerOf(nested: NestedReply): Answer {
  const { fiber_id, new_id, rewritten, unwritten } = nested;
  const links = rewritten.length === 0 ? '' : `Rewrote its links in: ${rewritten.join(', ')}\n`;
  return {
    json: nested,
    text: `${fiber_id} is now ${new_id}\n${links}`,
    warnings: unwritten.map((one) => `the links in ${one.id} were not rewritten: ${one.message}`),
    exit: unwritten.length === 0 ? EXIT.ok : EXIT.refused,
  };
}
