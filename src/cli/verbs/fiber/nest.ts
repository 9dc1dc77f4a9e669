import { CodedError } from '../../../base/errors.ts';
import { nestedSchema } from '../../../contract/http/fibers.ts';
import { nestFiber, planNest } from '../../../fibers/nest.ts';
import { rehearsedNest } from '../../../fibers/rehearsed-write.ts';
import { DRY_RUN, FIBER, option, STORE } from '../../command-line/options.ts';
import { rehearsed, rehearseRequest } from '../../command-line/rehearsal.ts';
import { defineVerb, EXIT } from '../../command-line/verb.ts';
import { findInStores } from '../../find-fiber.ts';
import { daemonOf } from '../lifecycle/write.ts';

/** `svc fiber nest <fiber> --under <parent>`: moves a fiber with all fibers below it (WPL-12). */
export const verb = defineVerb({
  summary: 'File a fiber under another one, with its children; links to it are rewritten',
  arguments: { fiber: FIBER },
  options: {
    under: option('--under <parent>', 'fiber to file it under'),
    top: option('--top', 'file it at the top of its store'),
    store: STORE,
    dry_run: DRY_RUN,
  },
  examples: [['svc fiber nest say-hello --under work', 'files it elsewhere, with its children']],
  json: nestedSchema,
  exits: { 1: 'the links in a fiber were not rewritten' },
  async run(context, { fiber, under, top, dry_run, ...given }) {
    if ((under === undefined) === (top !== true))
      throw new CodedError('invalid_request', 'name either --under <parent> or --top');
    const { store, id } = findInStores(context, fiber, given.store);
    const parent = under === undefined ? null : findInStores(context, under, store.root).id;
    const daemon = await daemonOf(context, store.root);
    const body = { fiber_id: id, parent };
    if (dry_run === true)
      return daemon === null
        ? rehearsed(rehearsedNest(await planNest(store, id, parent)))
        : rehearseRequest(daemon, '/fiber-nest', body);
    const nested =
      daemon === null
        ? await nestFiber(store, id, parent).then(({ id: fiber_id, ...rest }) => ({ fiber_id, ...rest }))
        : await daemon.post('/fiber-nest', body, nestedSchema);
    const { fiber_id, new_id, rewritten, unwritten } = nested;
    const links = rewritten.length === 0 ? '' : `Rewrote its links in: ${rewritten.join(', ')}\n`;
    return {
      json: nested,
      text: `${fiber_id} is now ${new_id}\n${links}`,
      warnings: unwritten.map((one) => `the links in ${one.id} were not rewritten: ${one.message}`),
      exit: unwritten.length === 0 ? EXIT.ok : EXIT.refused,
    };
  },
});
