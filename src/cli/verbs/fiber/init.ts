import { join, resolve } from 'node:path';
import { changePathList, type PathListWrite } from '../../../config/path-lists.ts';
import { expandHome, readSettings } from '../../../config/settings.ts';
import { rehearsal } from '../../../contract/http/rehearsal.ts';
import { FIBERS_FOLDER } from '../../../fibers/fiber-id.ts';
import { initStore } from '../../../fibers/store.ts';
import { DRY_RUN, printRehearsal } from '../../command-line/rehearsal.ts';
import { EXIT, type Verb } from '../../command-line/verb.ts';

/** `svc fiber init [dir]`: makes a folder a store; doing it again changes nothing. */
export const registerInit: Verb['register'] = (command, context, exit) => {
  command
    .command('init')
    .description('Make a folder a store')
    .argument('[dir]', 'the folder', '.')
    .option('--poll', 'name it in stores.json, so that the daemon works on its fibers')
    .option(...DRY_RUN)
    .option('--json', 'print JSON')
    .action(async (dir: string, options: { poll?: boolean; dryRun?: boolean; json?: boolean }) => {
      const root = resolve(context.cwd, expandHome(dir));
      if (options.dryRun === true) {
        const listed = options.poll === true ? ' and name it in stores.json' : '';
        printRehearsal(context, rehearsal(`make ${join(root, FIBERS_FOLDER)}${listed}`), options);
        exit(EXIT.ok);
        return;
      }
      const store = initStore(root);
      const polled =
        options.poll === true
          ? await changePathList(readSettings(context.env), 'stores', { add: store.root })
          : null;
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
  return `Listed in ${polled.file}; a daemon that runs takes it up with its next poll\n`;
}
