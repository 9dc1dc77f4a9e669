import { CodedError } from '../../../base/errors.ts';
import { shellWord } from '../../../base/shell-word.ts';
import { svcOf } from '../../../config/own-command.ts';
import { readSettings } from '../../../config/settings.ts';
import { FIBER_STATUSES } from '../../../contract/fiber.ts';
import { findFiber } from '../../../fibers/find-fiber.ts';
import { rehearsedWrite } from '../../../fibers/rehearsed-write.ts';
import { requireFieldValues } from '../../../lifecycle/field-values.ts';
import { argument, DRY_RUN, DUE, OUTCOME, option, statusOption } from '../../command-line/options.ts';
import { rehearsed } from '../../command-line/rehearsal.ts';
import { defineVerb } from '../../command-line/verb.ts';
import { openOneStore } from '../../find-fiber.ts';
import { fiberWithBodySchema, readBody } from './body.ts';

/** `svc fiber add <name>`: makes a fiber with a new ULID. */
export const verb = defineVerb({
  summary: 'Create a fiber',
  arguments: { name: argument('<name>', 'what the fiber is called') },
  options: {
    slug: option('--slug <slug>', 'leaf of the new id; made from the name otherwise'),
    parent: option('--parent <fiber>', 'fiber to file it under', { completes: 'fibers' }),
    body: option('--body <text>', 'markdown body; - reads standard input'),
    tags: option('--tag <tag...>', 'tags'),
    status: statusOption(FIBER_STATUSES.join(', ')),
    outcome: OUTCOME,
    due: DUE,
    store: option('--store <dir>', 'store to put it in'),
    dry_run: DRY_RUN,
  },
  examples: [
    [
      'svc fiber add "Say hello" --store ~/notes --body "Write HELLO.md."',
      'makes the draft `say-hello` with its task',
    ],
    [
      'svc fiber add "Load faster" --parent work --body - < task.md',
      'files it under `work`, body from a file',
    ],
  ],
  json: fiberWithBodySchema,
  async run(context, { name, slug, tags, status, outcome, due, ...given }) {
    const store = await openOneStore(context, given.store);
    const parent = given.parent === undefined ? undefined : findFiber([store], given.parent).id;
    if (name.trim() === '') throw new CodedError('invalid_request', 'a fiber needs a name; give it one');
    const body = await readBody(context, given.body);
    requireFieldValues({ due }, null);
    const asked = { name: name.trim(), slug, parent, body, tags, status, outcome, due };
    if (given.dry_run === true) return rehearsed(rehearsedWrite('create', store.planCreate(asked)));
    const fiber = await store.create(asked);
    const svc = svcOf(readSettings(context.env));
    return {
      json: { fiber },
      text: `${fiber.id}\n${fiber.path}\nHave a worker take it up: ${svc} install ${shellWord(fiber.id)} --project-dir <dir>\n`,
      one_line: true,
    };
  },
});
