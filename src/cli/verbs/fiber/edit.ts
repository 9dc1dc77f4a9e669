import { CodedError, messageOf } from '../../../base/errors.ts';
import type { FiberDocument } from '../../../contract/fiber.ts';
import type { DocumentEdit } from '../../../fibers/edit.ts';
import { rehearsedWrite } from '../../../fibers/rehearsed-write.ts';
import { rosterEdit } from '../../../fibers/roster.ts';
import { parseYamlValue } from '../../../fibers/yaml-document.ts';
import { DRY_RUN, printRehearsal } from '../../command-line/rehearsal.ts';
import { type CliContext, EXIT, type Verb } from '../../command-line/verb.ts';
import { findInStores } from '../../find-fiber.ts';
import { parseStatus } from './add.ts';
import { readBody } from './body.ts';

type EditOptions = {
  name?: string;
  status?: string;
  outcome?: string;
  body?: string;
  tag?: string[];
  untag?: string[];
  due?: string;
  set?: string[];
  unset?: string[];
  expectedDigest?: string;
  collaboration?: string;
  store?: string;
  dryRun?: boolean;
  json?: boolean;
};

/** `svc fiber edit <id>`: one locked write; everything that is not named keeps its bytes. */
export const registerEdit: Verb['register'] = (command, context, exit) => {
  command
    .command('edit')
    .description('Change fields or the body of a fiber')
    .argument('<fiber>', 'canonical id, uid or leaf')
    .option('--name <name>', 'new name')
    .option('--status <status>', 'open, active or closed')
    .option('--outcome <line>', 'the line that the card shows')
    .option('--body <text>', 'new markdown body; - reads standard input')
    .option('--tag <tag...>', 'tags to add')
    .option('--untag <tag...>', 'tags to take away')
    .option('--due <day>', 'due day')
    .option('--set <key=value...>', 'frontmatter path and YAML value, such as svc.agent=codex')
    .option('--unset <key...>', 'frontmatter paths to remove')
    .option(
      '--collaboration <json>',
      'the whole roster as JSON, roles to lists of names, without any other change; - reads standard input',
    )
    .option('--expected-digest <sha256>', 'refuse when the document is not this one any more')
    .option('--store <dir>', 'store to look in')
    .option(...DRY_RUN)
    .option('--json', 'print JSON')
    .action(async (reference: string, options: EditOptions) => {
      const { store, id } = findInStores(context, reference, options.store);
      const fixed =
        options.collaboration === undefined
          ? fixedEdit(options, await readBody(context, options.body))
          : await assignment(context, options, options.collaboration);
      const plan = (document: FiberDocument) => ({
        ...fixed,
        set: { ...fixed.set, ...tagEdit(document, options) },
      });
      if (options.dryRun === true) {
        const rehearsed = store.rehearse(id, plan, { expectedDigest: options.expectedDigest });
        printRehearsal(context, rehearsedWrite('write', rehearsed), options);
        exit(EXIT.ok);
        return;
      }
      const fiber = await store.update(id, plan, options.expectedDigest);
      context.out(
        options.json === true ? `${JSON.stringify({ fiber })}\n` : `${fiber.id}  ${fiber.digest}\n`,
      );
      exit(EXIT.ok);
    });
};

/** The roster is replaced as a whole, in a write of its own (WPL-11). */
async function assignment(context: CliContext, options: EditOptions, given: string): Promise<DocumentEdit> {
  const { collaboration: _roster, expectedDigest: _digest, store: _store, json: _json, ...others } = options;
  if (Object.keys(others).length > 0)
    throw new CodedError(
      'invalid_request',
      '--collaboration is an assignment of its own; leave the other changes to a second command',
    );
  const text = await readBody(context, given);
  try {
    return rosterEdit(JSON.parse(text ?? ''));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CodedError(
      'invalid_request',
      `the roster is not JSON: ${messageOf(error)}; write it such as {"author": ["ann"]}`,
      { cause: error },
    );
  }
}

function fixedEdit(options: EditOptions, body: string | undefined): DocumentEdit {
  const named = {
    name: options.name,
    status: parseStatus(options.status),
    outcome: options.outcome,
    due: options.due,
  };
  const set = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
  for (const text of options.set ?? []) Object.assign(set, parseAssignment(text));
  const edit: DocumentEdit = { set, unset: options.unset ?? [], ...(body === undefined ? {} : { body }) };
  const empty =
    Object.keys(set).length === 0 &&
    edit.unset?.length === 0 &&
    body === undefined &&
    !options.tag &&
    !options.untag;
  if (empty) throw new CodedError('invalid_request', 'nothing to change; see "svc fiber edit --help"');
  return edit;
}

function tagEdit(document: FiberDocument, options: EditOptions): { tags?: string[] } {
  if (options.tag === undefined && options.untag === undefined) return {};
  const away = new Set(options.untag);
  return { tags: [...new Set([...document.tags, ...(options.tag ?? [])])].filter((tag) => !away.has(tag)) };
}

function parseAssignment(text: string): Record<string, unknown> {
  const equals = text.indexOf('=');
  if (equals < 1)
    throw new CodedError('invalid_request', `"${text}" is not key=value; write it such as svc.effort=high`);
  try {
    return { [text.slice(0, equals)]: parseYamlValue(text.slice(equals + 1)) ?? '' };
  } catch (error) {
    throw new CodedError(
      'invalid_request',
      `the value in "${text}" is not YAML: ${messageOf(error)}; put quotes around a text`,
      {
        cause: error,
      },
    );
  }
}
