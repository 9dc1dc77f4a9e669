import { rehearsedWrite } from '../../../fibers/rehearsed-write.ts';
import { DRY_RUN, printRehearsal } from '../../command-line/rehearsal.ts';
import { EXIT, type Verb } from '../../command-line/verb.ts';
import { findInStores } from '../../find-fiber.ts';

type RmOptions = { recursive?: boolean; store?: string; dryRun?: boolean; json?: boolean };

/** `svc fiber rm <id>`: removes a document; companions and children only with `--recursive`. */
export const registerRm: Verb['register'] = (command, context, exit) => {
  command
    .command('rm')
    .description('Remove a fiber')
    .argument('<fiber>', 'canonical id, uid or leaf')
    .option('--recursive', 'remove its companions and children too')
    .option('--store <dir>', 'store to look in')
    .option(...DRY_RUN)
    .option('--json', 'print JSON')
    .action(async (reference: string, options: RmOptions) => {
      const { store, id } = findInStores(context, reference, options.store);
      if (options.dryRun === true) {
        printRehearsal(context, rehearsedWrite('remove', store.rehearseRemove(id, options)), options);
        exit(EXIT.ok);
        return;
      }
      const removed = await store.remove(id, { recursive: options.recursive });
      context.out(options.json === true ? `${JSON.stringify({ removed })}\n` : `Removed ${removed.path}\n`);
      exit(EXIT.ok);
    });
};
