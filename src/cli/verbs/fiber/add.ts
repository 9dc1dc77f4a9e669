import { CodedError } from '../../../base/errors.ts';
import { readSettings } from '../../../config/settings.ts';
import { FIBER_STATUSES, fiberStatusSchema } from '../../../contract/fiber.ts';
import { findFiber } from '../../../fibers/find-fiber.ts';
import { rehearsedWrite } from '../../../fibers/rehearsed-write.ts';
import { DRY_RUN, printRehearsal } from '../../command-line/rehearsal.ts';
import { EXIT, type Verb } from '../../command-line/verb.ts';
import { openOneStore } from '../../find-fiber.ts';
import { readBody } from './body.ts';

type AddOptions = {
  slug?: string;
  parent?: string;
  body?: string;
  tag?: string[];
  status?: string;
  outcome?: string;
  due?: string;
  store?: string;
  dryRun?: boolean;
  json?: boolean;
};

/** `svc fiber add <name>`: a new fiber with a fresh ULID. */
export const registerAdd: Verb['register'] = (command, context, exit) => {
  command
    .command('add')
    .description('Create a fiber')
    .argument('<name>', 'what the fiber is called')
    .option('--slug <slug>', 'leaf of the new id; made from the name otherwise')
    .option('--parent <fiber>', 'fiber to file it under')
    .option('--body <text>', 'markdown body; - reads standard input')
    .option('--tag <tag...>', 'tags')
    .option('--status <status>', FIBER_STATUSES.join(', '))
    .option('--outcome <line>', 'the line that the card shows')
    .option('--due <day>', 'due day')
    .option('--store <dir>', 'store to put it in')
    .option(...DRY_RUN)
    .option('--json', 'print JSON')
    .action(async (name: string, options: AddOptions) => {
      const store = openOneStore(context, options.store);
      const parent = options.parent === undefined ? undefined : findFiber([store], options.parent).id;
      if (name.trim() === '') throw new CodedError('invalid_request', 'a fiber needs a name; give it one');
      const asked = {
        name: name.trim(),
        slug: options.slug,
        parent,
        body: await readBody(context, options.body),
        tags: options.tag,
        status: parseStatus(options.status),
        outcome: options.outcome,
        due: options.due,
      };
      if (options.dryRun === true) {
        printRehearsal(context, rehearsedWrite('create', store.rehearseCreate(asked)), options);
        exit(EXIT.ok);
        return;
      }
      const fiber = await store.create(asked);
      context.out(
        options.json === true
          ? `${JSON.stringify({ fiber })}\n`
          : `${fiber.id}  ${fiber.uid}\n${fiber.path}\nHave a worker take it up: ${readSettings(context.env).demo ? 'svc demo' : 'svc'} install ${fiber.id} --project-dir <dir>\n`,
      );
      exit(EXIT.ok);
    });
};

/** Throws `invalid_request` for a word that is not a status. */
export function parseStatus(text: string | undefined) {
  if (text === undefined) return undefined;
  const parsed = fiberStatusSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new CodedError('invalid_request', `"${text}" is not a status; it takes ${FIBER_STATUSES.join(', ')}`);
}
