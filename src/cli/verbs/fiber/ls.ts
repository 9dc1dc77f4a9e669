import type { FiberDocument } from '../../../contract/fiber.ts';
import { EXIT, type Verb } from '../../command-line/verb.ts';
import { openStores } from '../../find-fiber.ts';
import { parseStatus } from './add.ts';
import { renderList } from './page.ts';

type LsOptions = { status?: string; tag?: string[]; svc?: boolean; store?: string; json?: boolean };

/** `svc fiber ls`: every fiber of the stores; what cannot be read is said and ends in exit code 1. */
export const registerLs: Verb['register'] = (command, context, exit) => {
  command
    .command('ls')
    .description('List fibers')
    .option('--status <status>', 'only this status')
    .option('--tag <tag...>', 'only those with all these tags')
    .option('--svc', 'only those with a svc block')
    .option('--store <dir>', 'only this store')
    .option('--json', 'print JSON')
    .action((options: LsOptions) => {
      const status = parseStatus(options.status);
      const { stores, problems } = openStores(context, options.store);
      const listings = stores.map((store) => store.list());
      const rows = listings
        .flatMap((listing) => listing.documents)
        .filter((row) => keeps(row, { ...options, status }))
        .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
      const errors = [
        ...problems.map((problem) => ({ path: null, message: problem.message })),
        ...listings.flatMap((listing) => listing.errors),
      ];
      if (options.json === true) context.out(`${JSON.stringify({ fibers: rows, errors })}\n`);
      else {
        context.out(renderList(rows));
        for (const error of errors)
          context.err(`svc: ${error.path === null ? '' : `${error.path}: `}${error.message}\n`);
      }
      exit(errors.length === 0 ? EXIT.ok : EXIT.refused);
    });
};

/** A row that could not be read stays in the list unless a filter asks for what it cannot have. */
function keeps(row: FiberDocument, options: LsOptions): boolean {
  if (options.status !== undefined && row.status !== options.status) return false;
  if (options.svc === true && row.svc === undefined) return false;
  return (options.tag ?? []).every((tag) => row.tags.includes(tag));
}
