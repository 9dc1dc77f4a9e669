import { CodedError, messageOf } from '../../../base/errors.ts';
import { shellWord } from '../../../base/shell-word.ts';
import { svcOf } from '../../../config/own-command.ts';
import { readSettings } from '../../../config/settings.ts';
import type { FiberDocument, Roster } from '../../../contract/fiber.ts';
import type { EditFiber } from '../../../contract/http/fibers.ts';
import { stateSchema } from '../../../contract/http/state.ts';
import type { DocumentWithBody } from '../../../fibers/document.ts';
import type { DocumentEdit } from '../../../fibers/edit.ts';
import type { FoundFiber } from '../../../fibers/find-fiber.ts';
import { rehearsedWrite } from '../../../fibers/rehearsed-write.ts';
import { requireRoster, rosterEdit } from '../../../fibers/roster.ts';
import { parseYamlValue } from '../../../fibers/yaml-document.ts';
import { loadRegistry } from '../../../harness/agents/registry.ts';
import type { KnownAgents } from '../../../lifecycle/agent-verbs.ts';
import { armsClosed, planFieldEdit } from '../../../lifecycle/field-edit.ts';
import { requireFieldValues } from '../../../lifecycle/field-values.ts';
import {
  DRY_RUN,
  DUE,
  FIBER,
  ON_HOST,
  OUTCOME,
  option,
  STORE,
  statusOption,
} from '../../command-line/options.ts';
import { rehearsed, rehearseRequest } from '../../command-line/rehearsal.ts';
import { type Answer, type CliContext, defineVerb, type Given } from '../../command-line/verb.ts';
import { fiberPath } from '../../daemon-client/fiber-path.ts';
import { atItsPlace, type FiberElsewhere } from '../../fiber-place.ts';
import { thisHost } from '../../find-fiber.ts';
import { daemonOf } from '../lifecycle/write.ts';
import { fiberWithBodySchema, readBody } from './body.ts';
import { editInEditor, personsEditor } from './edit-in-editor.ts';

/** The options that change something; a roster is written without them. */
const CHANGES = {
  name: option('--name <name>', 'new name'),
  status: statusOption('open, active or closed'),
  outcome: OUTCOME,
  body: option('--body <text>', 'new markdown body; - reads standard input'),
  tag: option('--tag <tag...>', 'tags to add'),
  untag: option('--untag <tag...>', 'tags to take away'),
  due: DUE,
  set: option('--set <key=value...>', 'frontmatter path and YAML value, such as svc.agent=codex'),
  unset: option('--unset <key...>', 'frontmatter paths to remove'),
};
type Changes = Given<typeof CHANGES>;

/** The roster, which is written without any other change, and the state that a write is for. */
const HOW = {
  collaboration: option(
    '--collaboration <json>',
    'the whole roster as JSON, roles to lists of names, without any other change; - reads standard input',
  ),
  expected_digest: option(
    '--expected-digest <sha256>',
    'refuse if the document does not have this digest any more',
  ),
};

/** `svc fiber edit <id>`: one locked write; the other fields keep their bytes. */
export const verb = defineVerb({
  summary: 'Change a fiber: in your editor, or by options',
  arguments: { fiber: FIBER },
  options: {
    ...CHANGES,
    ...HOW,
    host: ON_HOST,
    store: STORE,
    dry_run: DRY_RUN,
  },
  examples: [
    [
      'svc fiber edit say-hello',
      'opens the document in $VISUAL or $EDITOR, and writes it if nobody else did',
    ],
    ['svc fiber edit say-hello --outcome "Greets in two languages."', 'sets the line that the card shows'],
    ['svc fiber edit say-hello --set svc.effort=high', 'sets any field; the rest stays as it is'],
  ],
  json: fiberWithBodySchema,
  run: (context, given) =>
    atItsPlace(context, given, {
      here: (found) => editHere(context, given, found),
      elsewhere: (at) => editElsewhere(context, given, at),
    }),
});

/** Everything that may be given besides the fiber and where it is. */
type EditGiven = Changes & Given<typeof HOW> & { dry_run: boolean | undefined };

async function editHere(context: CliContext, given: EditGiven, found: FoundFiber): Promise<Answer> {
  const { store, id } = found;
  const { collaboration, expected_digest } = given;
  if (wantsEditor(context, given)) {
    const svc = svcOf(readSettings(context.env));
    const { fiber, changed } = await editInEditor(found, svc, await personsEditor(context));
    const text = changed ? `${id}  ${fiber.digest}\n` : `${id} is as it was.\n`;
    return { json: { fiber }, text, one_line: true };
  }
  const fixed =
    collaboration === undefined
      ? fixedEdit(given, await readBody(context, given.body))
      : rosterEdit(await rosterOf(context, given, collaboration));
  requireFieldValues(fixed.set ?? {}, knownAgents(context, store.read(id), fixed));
  const running = armsClosed(store.read(id), fixed) && (await isRunning(context, store.root, id));
  const plan = (document: FiberDocument) => {
    const edit = { ...fixed, set: { ...fixed.set, ...tagEdit(document, given) } };
    return planFieldEdit(document, edit, { running }, context.clock.now());
  };
  if (given.dry_run === true) {
    const shown = store.planEdit(id, plan, { expectedDigest: expected_digest });
    return rehearsed(rehearsedWrite('write', shown));
  }
  return answerOf(await store.update(id, plan, expected_digest));
}

async function editElsewhere(
  context: CliContext,
  given: EditGiven,
  { daemon, host, fiber: id }: FiberElsewhere,
): Promise<Answer> {
  const { collaboration, dry_run } = given;
  if (wantsEditor(context, given)) throw noEditorFor(context, id, host);
  const edit =
    collaboration === undefined
      ? await fieldsElsewhere(context, given, () =>
          daemon.get(`/fibers/${fiberPath(id)}`, fiberWithBodySchema),
        )
      : { collaboration: await rosterOf(context, given, collaboration) };
  const body: EditFiber = { fiber_id: id, expected_digest: given.expected_digest, ...edit };
  if (dry_run === true) return rehearseRequest(daemon, '/fiber-edit', body);
  return answerOf((await daemon.post('/fiber-edit', body, fiberWithBodySchema)).fiber);
}

async function fieldsElsewhere(
  context: CliContext,
  given: EditGiven,
  read: () => Promise<{ fiber: FiberDocument }>,
): Promise<Partial<EditFiber>> {
  const { set = {}, unset = [], body } = fixedEdit(given, await readBody(context, given.body));
  const fields = {
    ...(Object.keys(set).length > 0 && { set: { ...set } }),
    ...(unset.length > 0 && { unset: [...unset] }),
    ...(body !== undefined && { body }),
  };
  if (given.tag === undefined && given.untag === undefined) return fields;
  const { fiber } = await read();
  // The tags are written as a whole: one that somebody has added since must not be lost.
  return { expected_digest: given.expected_digest ?? fiber.digest, ...fields, ...tagEdit(fiber, given) };
}

function answerOf(fiber: DocumentWithBody): Answer {
  return { json: { fiber }, text: `${fiber.id}  ${fiber.digest}\n`, one_line: true };
}

function noEditorFor(context: CliContext, id: string, host: string): CodedError {
  const svc = svcOf(readSettings(context.env));
  return new CodedError(
    'invalid_request',
    `the document of ${id} is on ${host}, and no editor here can open it; give its new text with: ${svc} fiber edit ${shellWord(id)} --host ${host} --body -`,
  );
}

/** Nothing is given, on a terminal. */
function wantsEditor(context: CliContext, { collaboration, dry_run, ...given }: EditGiven): boolean {
  return collaboration === undefined && dry_run !== true && isUnchanged(given) && isTerminal(context);
}

function isUnchanged(changes: Changes): boolean {
  return (Object.keys(CHANGES) as (keyof Changes)[]).every((name) => changes[name] === undefined);
}

/** An editor needs both sides of a terminal. */
function isTerminal({ stdin, width }: CliContext): boolean {
  return stdin.isTTY === true && Number.isFinite(width);
}

/** The agents of this host, unless the fiber is another host's. */
function knownAgents(context: CliContext, document: FiberDocument, edit: DocumentEdit): KnownAgents | null {
  const host = edit.set?.['svc.host'] ?? document.svc?.host;
  const isOurs = host === undefined || host === thisHost(context);
  return isOurs ? loadRegistry(readSettings(context.env)) : null;
}

/** True while the daemon of this machine has a worker of the fiber. */
async function isRunning(context: CliContext, root: string, id: string): Promise<boolean> {
  const daemon = await daemonOf(context, root);
  if (daemon === null) return false;
  const { running } = await daemon.get('/state', stateSchema);
  return running.some((run) => run.fiber_id === id && run.store === root);
}

/** The roster is replaced as a whole, in a separate write (WPL-11). */
async function rosterOf(context: CliContext, changes: Changes, given: string): Promise<Roster> {
  if (!isUnchanged(changes))
    throw new CodedError(
      'invalid_request',
      '--collaboration cannot be combined with other changes; make them with a second command',
    );
  const text = await readBody(context, given);
  try {
    return requireRoster(JSON.parse(text ?? ''));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CodedError(
      'invalid_request',
      `the roster is not JSON: ${messageOf(error)}; write it such as {"author": ["ann"]}`,
      { cause: error },
    );
  }
}

function fixedEdit(options: Changes, body: string | undefined): DocumentEdit {
  const named = {
    name: options.name,
    status: options.status,
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
  if (empty)
    throw new CodedError(
      'invalid_request',
      'nothing to change; name an option, or type it on a terminal, where it opens your editor',
    );
  return edit;
}

function tagEdit(document: FiberDocument, options: Changes): { tags?: string[] } {
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
