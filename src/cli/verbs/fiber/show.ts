import { EXIT, type Verb } from '../../command-line/verb.ts';
import { findInStores } from '../../find-fiber.ts';
import { renderPage } from './page.ts';

/** `svc fiber show <id>`: the fields and the body of one fiber. */
export const registerShow: Verb['register'] = (command, context, exit) => {
  command
    .command('show')
    .description('Show a fiber')
    .argument('<fiber>', 'canonical id, uid or leaf')
    .option('--body-only', 'print the body and nothing else, byte for byte unless to a terminal')
    .option('--store <dir>', 'store to look in')
    .option('--json', 'print JSON')
    .action((reference: string, options: { bodyOnly?: boolean; store?: string; json?: boolean }) => {
      const { store, id } = findInStores(context, reference, options.store);
      const fiber = store.read(id);
      if (options.json === true) context.out(`${JSON.stringify({ fiber })}\n`);
      else if (options.bodyOnly === true) context.verbatim(fiber.body);
      else context.out(renderPage(fiber));
      exit(EXIT.ok);
    });
};
