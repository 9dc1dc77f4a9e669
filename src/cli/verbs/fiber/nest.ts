import { CodedError } from '../../../base/errors.ts';
import { nestedSchema } from '../../../contract/http/fibers.ts';
import { nestFiber, rehearseNest } from '../../../fibers/nest.ts';
import { rehearsedNest } from '../../../fibers/rehearsed-write.ts';
import { printJson } from '../../command-line/output.ts';
import { DRY_RUN, printRehearsal, rehearseRequest } from '../../command-line/rehearsal.ts';
import { EXIT, type Verb } from '../../command-line/verb.ts';
import { findInStores } from '../../find-fiber.ts';
import { daemonOf } from '../lifecycle/write.ts';

type NestOptions = { under?: string; top?: boolean; store?: string; dryRun?: boolean; json?: boolean };

/** `svc fiber nest <fiber> --under <parent>`: files a fiber elsewhere with all that is below it (WPL-12). */
export const registerNest: Verb['register'] = (command, context, exit) => {
  command
    .command('nest')
    .description('File a fiber under another one, with its children; links to it are rewritten')
    .argument('<fiber>', 'canonical id, uid or leaf')
    .option('--under <parent>', 'fiber to file it under')
    .option('--top', 'file it at the top of its store')
    .option('--store <dir>', 'store to look in')
    .option(...DRY_RUN)
    .option('--json', 'print JSON')
    .action(async (reference: string, options: NestOptions) => {
      if ((options.under === undefined) === (options.top !== true))
        throw new CodedError('invalid_request', 'name either --under <parent> or --top');
      const { store, id } = findInStores(context, reference, options.store);
      const parent = options.under === undefined ? null : findInStores(context, options.under, store.root).id;
      const daemon = await daemonOf(context, store.root);
      if (options.dryRun === true) {
        const body = { fiber_id: id, parent };
        if (daemon !== null) await rehearseRequest(context, daemon, '/fiber-nest', body, options);
        else printRehearsal(context, rehearsedNest(await rehearseNest(store, id, parent)), options);
        exit(EXIT.ok);
        return;
      }
      const nested =
        daemon === null
          ? await nestFiber(store, id, parent).then(({ id: fiber_id, ...rest }) => ({ fiber_id, ...rest }))
          : await daemon.post('/fiber-nest', { fiber_id: id, parent }, nestedSchema);
      if (options.json === true) printJson(context, nested);
      else {
        context.out(`${nested.fiber_id} is now ${nested.new_id}\n`);
        if (nested.rewritten.length > 0)
          context.out(`Rewrote its links in: ${nested.rewritten.join(', ')}\n`);
        for (const one of nested.unwritten)
          context.err(`svc: the links in ${one.id} were not rewritten: ${one.message}\n`);
      }
      exit(nested.unwritten.length === 0 ? EXIT.ok : EXIT.refused);
    });
};
