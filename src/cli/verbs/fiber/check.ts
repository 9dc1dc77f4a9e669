import { z } from 'zod';
import { checkListings } from '../../../fibers/check.ts';
import { unlistedDocuments } from '../../../fibers/unlisted.ts';
import { option } from '../../command-line/options.ts';
import { defineVerb, EXIT } from '../../command-line/verb.ts';
import { openStores } from '../../find-fiber.ts';

/** `svc fiber check`: lists every invalid document; exit code 1 if there is one. */
export const verb = defineVerb({
  summary: 'Check every document of the stores',
  options: { store: option('--store <dir>', 'only this store') },
  examples: [['svc fiber check', 'names every document that cannot be used, and why']],
  json: z.object({
    checked: z.number(),
    problems: z.array(z.object({ path: z.string(), message: z.string() })),
  }),
  exits: { 1: 'a document is to be fixed' },
  async run(context, given) {
    const opened = await openStores(context, given.store);
    const listings = opened.stores.map((store) => store.list());
    const problems = [
      ...opened.problems.map((problem) => ({ path: '', message: problem.message })),
      ...checkListings(listings),
      ...opened.stores.flatMap(unlistedDocuments),
    ];
    const checked = listings.reduce((sum, listing) => sum + listing.documents.length, 0);
    const lines = problems.map(({ path, message }) =>
      path === '' ? `${message}\n` : `${path}\n  ${message}\n`,
    );
    return {
      json: { checked, problems },
      text: `${lines.join('')}${checked} checked, ${problems.length} to fix\n`,
      one_line: true,
      exit: problems.length === 0 ? EXIT.ok : EXIT.refused,
    };
  },
});
