import { checkListing } from '../../../fibers/check.ts';
import { EXIT, type Verb } from '../../command-line/verb.ts';
import { openStores } from '../../find-fiber.ts';

/** `svc fiber check`: names every document that a person should mend; exit code 1 when there is one. */
export const registerCheck: Verb['register'] = (command, context, exit) => {
  command
    .command('check')
    .description('Check every document of the stores')
    .option('--store <dir>', 'only this store')
    .option('--json', 'print JSON')
    .action((options: { store?: string; json?: boolean }) => {
      const opened = openStores(context, options.store);
      const listings = opened.stores.map((store) => store.list());
      const problems = [
        ...opened.problems.map((problem) => ({ path: '', message: problem.message })),
        ...listings.flatMap(checkListing),
      ];
      const checked = listings.reduce((sum, listing) => sum + listing.documents.length, 0);
      if (options.json === true) context.out(`${JSON.stringify({ checked, problems })}\n`);
      else {
        for (const { path, message } of problems)
          context.out(path === '' ? `${message}\n` : `${path}\n  ${message}\n`);
        context.out(`${checked} checked, ${problems.length} to mend\n`);
      }
      exit(problems.length === 0 ? EXIT.ok : EXIT.refused);
    });
};
