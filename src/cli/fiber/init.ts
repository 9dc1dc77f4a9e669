import { resolve } from 'node:path';
import { initStore } from '../../fibers/store.ts';
import { EXIT, type Verb } from '../verb.ts';

/** `svc fiber init [dir]`: makes a folder a store; doing it again changes nothing. */
export const registerInit: Verb['register'] = (command, context, exit) => {
  command
    .command('init')
    .description('Make a folder a store')
    .argument('[dir]', 'the folder', '.')
    .option('--json', 'print JSON')
    .action((dir: string, options: { json?: boolean }) => {
      const store = initStore(resolve(context.cwd, dir));
      context.out(
        options.json === true ? `${JSON.stringify({ store: store.root })}\n` : `Store ${store.root}\n`,
      );
      exit(EXIT.ok);
    });
};
