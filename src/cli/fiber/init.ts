import { resolve } from 'node:path';
import { addStore, type PathListWrite } from '../../config/path-lists.ts';
import { expandHome, readSettings } from '../../config/settings.ts';
import { initStore } from '../../fibers/store.ts';
import { EXIT, type Verb } from '../verb.ts';

/** `svc fiber init [dir]`: makes a folder a store; doing it again changes nothing. */
export const registerInit: Verb['register'] = (command, context, exit) => {
  command
    .command('init')
    .description('Make a folder a store')
    .argument('[dir]', 'the folder', '.')
    .option('--poll', 'name it in stores.json, so that the daemon works on its fibers')
    .option('--json', 'print JSON')
    .action((dir: string, options: { poll?: boolean; json?: boolean }) => {
      const store = initStore(resolve(context.cwd, expandHome(dir)));
      const polled = options.poll === true ? addStore(readSettings(context.env), store.root) : null;
      if (options.json === true)
        context.out(`${JSON.stringify({ store: store.root, stores: polled?.paths ?? null })}\n`);
      else context.out(`Store ${store.root}\n${polled === null ? '' : describePolled(polled)}`);
      exit(EXIT.ok);
    });
};

function describePolled(polled: PathListWrite): string {
  if (polled.overridden_by !== null)
    return `Listed in ${polled.file}, which counts only once ${polled.overridden_by} is unset.\n`;
  if (!polled.changed) return `Listed in ${polled.file} already.\n`;
  return `Listed in ${polled.file}; a daemon that runs takes it up after: svc daemon restart\n`;
}
