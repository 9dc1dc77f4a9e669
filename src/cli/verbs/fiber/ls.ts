import { z } from 'zod';
import { fiberDocumentSchema } from '../../../contract/fiber.ts';
import { option, statusOption } from '../../command-line/options.ts';
import { defineVerb, EXIT } from '../../command-line/verb.ts';
import { openStores } from '../../find-fiber.ts';
import { renderList } from './page.ts';
import { readStandings } from './standings.ts';

/** `svc fiber ls`: every fiber of the stores; an unreadable one is reported and gives exit code 1. */
export const verb = defineVerb({
  summary: 'List fibers',
  options: {
    status: statusOption('only this status'),
    tags: option('--tag <tag...>', 'only those with all these tags'),
    svc: option('--svc', 'only those with a svc block'),
    store: option('--store <dir>', 'only this store'),
  },
  examples: [['svc fiber ls --status active --svc', 'fibers that are to be worked on']],
  json: z.object({
    fibers: z.array(fiberDocumentSchema),
    errors: z.array(z.object({ path: z.string().nullable(), message: z.string() })),
  }),
  exits: { 1: 'a store or a document cannot be read' },
  async run(context, { status, tags = [], svc, store, json }) {
    const { stores, problems } = await openStores(context, store);
    const listings = stores.map((one) => one.list());
    // A row that could not be read stays in the list, except under a filter for a field that it cannot have.
    const fibers = listings
      .flatMap((listing) => listing.documents)
      .filter((row) => status === undefined || row.status === status)
      .filter((row) => svc !== true || row.svc !== undefined)
      .filter((row) => tags.every((tag) => row.tags.includes(tag)))
      .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
    const errors = [
      ...problems.map((problem) => ({ path: null, message: problem.message })),
      ...listings.flatMap((listing) => listing.errors),
    ];
    const in_words = json !== true && Number.isFinite(context.width);
    const standings = in_words ? await readStandings(context) : undefined;
    return {
      json: { fibers, errors },
      text: renderList(fibers, context.width, standings),
      one_line: true,
      warnings: errors.map(({ path, message }) => (path === null ? message : `${path}: ${message}`)),
      exit: errors.length === 0 ? EXIT.ok : EXIT.refused,
    };
  },
});
