import { findInStores } from '../find-fiber.ts';
import { EXIT, type Verb } from '../verb.ts';

/** `svc fiber rm <id>`: removes a document; companions and children only with `--recursive`. */
export const registerRm: Verb['register'] = (command, context, exit) => {
  command
    .command('rm')
    .description('Remove a fiber')
    .argument('<fiber>', 'canonical id, uid or leaf')
    .option('--recursive', 'remove its companions and children too')
    .option('--store <dir>', 'store to look in')
    .option('--json', 'print JSON')
    .action(async (reference: string, options: { recursive?: boolean; store?: string; json?: boolean }) => {
      const { store, id } = findInStores(context, reference, options.store);
      const removed = await store.remove(id, { recursive: options.recursive });
      context.out(options.json === true ? `${JSON.stringify({ removed })}\n` : `Removed ${removed.path}\n`);
      exit(EXIT.ok);
    });
};
