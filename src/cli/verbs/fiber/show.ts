import { FIBER, ON_HOST, option, STORE } from '../../command-line/options.ts';
import { defineVerb, EXIT } from '../../command-line/verb.ts';
import { fiberPath } from '../../daemon-client/fiber-path.ts';
import { atItsPlace } from '../../fiber-place.ts';
import { fiberWithBodySchema } from './body.ts';
import { renderPage } from './page.ts';

/** `svc fiber show <id>`: the fields and the body of one fiber. */
export const verb = defineVerb({
  summary: 'Show a fiber',
  arguments: { fiber: FIBER },
  options: {
    body_only: option('--body-only', 'print the body and nothing else, byte for byte unless to a terminal'),
    host: ON_HOST,
    store: STORE,
  },
  examples: [['svc fiber show say-hello --body-only', 'prints the body and nothing else']],
  json: fiberWithBodySchema,
  async run(context, { body_only, json, ...named }) {
    const fiber = await atItsPlace(context, named, {
      here: ({ store, id }) => store.read(id),
      elsewhere: async ({ daemon, fiber: id }) =>
        (await daemon.get(`/fibers/${fiberPath(id)}`, fiberWithBodySchema)).fiber,
    });
    if (body_only !== true || json === true)
      return { json: { fiber }, text: renderPage(fiber), one_line: true };
    context.verbatim(fiber.body);
    return EXIT.ok;
  },
});
