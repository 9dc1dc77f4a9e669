import { FIBER, option, STORE } from '../../command-line/options.ts';
import { defineVerb, EXIT } from '../../command-line/verb.ts';
import { findInStores } from '../../find-fiber.ts';
import { fiberWithBodySchema } from './body.ts';
import { renderPage } from './page.ts';

/** `svc fiber show <id>`: the fields and the body of one fiber. */
export const verb = defineVerb({
  summary: 'Show a fiber',
  arguments: { fiber: FIBER },
  options: {
    body_only: option('--body-only', 'print the body and nothing else, byte for byte unless to a terminal'),
    store: STORE,
  },
  examples: [['svc fiber show say-hello --body-only', 'prints the body and nothing else']],
  json: fiberWithBodySchema,
  run(context, { fiber: reference, body_only, json, ...given }) {
    const { store, id } = findInStores(context, reference, given.store);
    const fiber = store.read(id);
    if (body_only !== true || json === true)
      return { json: { fiber }, text: renderPage(fiber), one_line: true };
    context.verbatim(fiber.body);
    return EXIT.ok;
  },
});
