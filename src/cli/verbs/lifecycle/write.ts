import { ulid } from 'ulid';
import { z } from 'zod';
import { CodedError } from '../../../base/errors.ts';
import { shellWord } from '../../../base/shell-word.ts';
import { removeHold } from '../../../config/hold-files.ts';
import { svcOf } from '../../../config/own-command.ts';
import { dataPaths } from '../../../config/paths.ts';
import { resolveDirectory } from '../../../config/resolve-directory.ts';
import { readSettings } from '../../../config/settings.ts';
import { type FiberDocument, fiberDocumentSchema, type SvcBlock } from '../../../contract/fiber.ts';
import {
  actedSchema,
  type LifecycleRequest,
  lifecycleRequestSchema,
} from '../../../contract/http/lifecycle.ts';
import type { Rehearsal } from '../../../contract/http/rehearsal.ts';
import { stateSchema } from '../../../contract/http/state.ts';
import { readInput, sentenceOfFault } from '../../../contract/read-input.ts';
import type { Surface } from '../../../contract/surface.ts';
import type { DocumentWithBody } from '../../../fibers/document.ts';
import type { FoundFiber } from '../../../fibers/find-fiber.ts';
import { rehearsedWrite } from '../../../fibers/rehearsed-write.ts';
import type { PlanEdit } from '../../../fibers/store.ts';
import { loadRegistry } from '../../../harness/agents/registry.ts';
import { describeFiber, describeUnchanged, isArming, planAction } from '../../../lifecycle/actions.ts';
import { deedWords } from '../../../lifecycle/fiber-words.ts';
import { worktreeOf } from '../../../lifecycle/planned-edit.ts';
import { storageError } from '../../../platform/storage-error.ts';
import { readinessWarnings, requireProgram } from '../../agent-readiness.ts';
import { DRY_RUN, JSON_OPTION, option, STORE } from '../../command-line/options.ts';
import { rehearsed, rehearseRequest } from '../../command-line/rehearsal.ts';
import type { Answer, CliContext, Given } from '../../command-line/verb.ts';
import { connectDaemon, type DaemonClient, errorOf } from '../../daemon-client/client.ts';
import { fiberPath } from '../../daemon-client/fiber-path.ts';
import { atItsPlace, type FiberElsewhere, type NamedFiber } from '../../fiber-place.ts';
import { findInStores, thisHost } from '../../find-fiber.ts';
import { claimBeforeArming, ownFiber } from '../capture-session.ts';
import { requireProjectFolder } from '../resolve-dir.ts';
import { sharedFolderWarnings } from './shared-folder.ts';
import { whatNext } from './what-next.ts';

/** Options of every lifecycle verb. */
export const WRITE = {
  store: STORE,
  dry_run: DRY_RUN,
  local: option('--local', 'write the document here, even where a daemon could be asked to', {
    hidden: true,
  }),
  json: JSON_OPTION,
};

type Fields<R> = R extends LifecycleRequest ? Omit<R, 'fiber' | 'store' | 'origin'> : never;
/** A request without its fiber, which each verb names in its own way. */
export type LifecycleFields = Fields<LifecycleRequest>;

/** The values of the options of install, repeat, pin and reshape. */
type ServiceFields = {
  host: string | undefined;
  project_dir: string | undefined;
  agent: string | undefined;
  effort: string | undefined;
  surface: Surface | undefined;
  worktree: true | undefined;
};

/** The same as fields of a request; a folder on this host must exist, one on another host must be absolute. */
export function readServiceFields(
  context: CliContext,
  given: Omit<ServiceFields, 'worktree'> & { worktree: boolean | undefined },
): ServiceFields {
  const { host, project_dir, agent, effort, surface, worktree } = given;
  const isHere = host === undefined || host === thisHost(context);
  return {
    host,
    project_dir: isHere ? localFolder(context, project_dir) : project_dir,
    agent,
    effort,
    surface,
    worktree: worktree === true ? true : undefined,
  };
}

type LifecycleGiven = NamedFiber & { anyway?: boolean | undefined } & Given<typeof WRITE>;

/** What every lifecycle verb prints with `--json`. */
export const fiberWrittenSchema = z.object({ fiber: fiberDocumentSchema });

/**
 * Runs one lifecycle verb and returns the resulting fiber; `fieldsAt` gives the fields for a fiber of this host (null) or
 * of another one. The daemon that polls the fiber's store makes the write in its own queue; if none runs, or with `--local`,
 * this process writes the document under its lock. That of another host is written by its daemon.
 */
export async function runLifecycle(
  context: CliContext,
  given: LifecycleGiven,
  fieldsAt: (host: string | null) => LifecycleFields,
): Promise<Answer> {
  const here = (found: FoundFiber) => runHere(context, given, found, fieldsAt(null));
  if (given.local === true) return here(await findInStores(context, given.fiber, given.store));
  return atItsPlace(context, given, {
    here,
    elsewhere: (at) => runElsewhere(given, at, fieldsAt(at.host)),
  });
}

async function runElsewhere(
  { dry_run, store, json }: LifecycleGiven,
  { daemon, fiber: id }: FiberElsewhere,
  fields: LifecycleFields,
): Promise<Answer> {
  const request = requestOf({ ...fields, fiber: id, store });
  if (dry_run === true) return rehearseRequest(daemon, ...routeOf(request));
  const text = await askDaemon(daemon, request);
  // Read only for who wants it: a host that is lost after the write must not make it look as if it had failed.
  const written = json === true ? await daemon.get(`/fibers/${fiberPath(id)}`, fiberWrittenSchema) : null;
  return { json: written, text, one_line: true };
}

function requestOf(value: object): LifecycleRequest {
  const read = readInput(lifecycleRequestSchema, value);
  if (read.success) return read.data;
  throw new CodedError('invalid_request', sentenceOfFault(read.faults[0], 'the request'));
}

async function runHere(
  context: CliContext,
  given: LifecycleGiven,
  found: FoundFiber,
  fields: LifecycleFields,
): Promise<Answer> {
  const request = requestOf({ ...fields, fiber: found.id, store: found.store.root });
  const local = given.local === true;
  if (isArming(fields.action, true) && !local && given.dry_run !== true)
    await claimBeforeArming(context, found.id);
  const daemon = local ? null : await daemonOf(context, found.store.root);
  if (!local && given.anyway !== true) await requireNamedAgent(context, found, request, daemon);
  if (given.dry_run === true)
    return daemon === null
      ? rehearsed(rehearseHere(context, found, request))
      : rehearseRequest(daemon, ...routeOf(request));
  const text =
    daemon === null ? await writeHere(context, found, request, local) : await askDaemon(daemon, request);
  const { body: _body, ...fiber } = found.store.read(found.id);
  if (given.json === true || local) return { json: { fiber }, text, one_line: true };
  const next = await nextOf(context, fiber);
  const warnings = agentsWarning(context, fiber);
  // Only whoever says where or by whom it is worked on is told what is missing for that.
  if ('agent' in fields || fields.action === 'set-model') {
    warnings.push(...(await readinessWarnings(context, fiber)));
    const svc = svcOf(readSettings(context.env));
    if (daemon !== null) warnings.push(...(await sharedFolderWarnings(daemon, fiber, svc)));
  }
  return { json: { fiber }, text: `${text}${next}`, one_line: true, warnings };
}

/** Refuses an agent that the request names for this host, where its program is not there. */
async function requireNamedAgent(
  context: CliContext,
  found: FoundFiber,
  request: LifecycleRequest,
  daemon: DaemonClient | null,
): Promise<void> {
  if (request.action === 'set-agent' || !('agent' in request) || request.agent === undefined) return;
  const { svc, project_dir = null } = found.store.read(found.id);
  const host = thisHost(context);
  if ((request.host ?? svc?.host ?? host) !== host) return;
  await requireProgram(context, request.agent, request.project_dir ?? project_dir, daemon);
}

/** Names a broken agents file to whoever has just said which agent is to work on a fiber, or left it to the default. */
function agentsWarning(context: CliContext, { svc }: FiberDocument): string[] {
  if (svc === undefined) return [];
  const { problem } = loadRegistry(readSettings(context.env));
  return problem === null ? [] : [problem.message];
}

async function nextOf(context: CliContext, fiber: FiberDocument): Promise<string> {
  const isOwn = fiber.uid !== null && ownFiber(context) === fiber.uid;
  return isOwn ? 'This session is its worker.\n' : whatNext(context, fiber);
}

/** The local daemon, if it is ready and polls this store. */
export async function daemonOf(context: CliContext, root: string): Promise<DaemonClient | null> {
  try {
    const daemon = await connectDaemon(readSettings(context.env));
    const { poll_health } = await daemon.get('/state', stateSchema);
    return poll_health.stores.some(({ store }) => store === root) ? daemon : null;
  } catch (error) {
    // A daemon that is starting or silent cannot write now; the lock serialises its later writes with ours.
    if (error instanceof CodedError) return null;
    throw error;
  }
}

/** The route that takes a verb, and its body there. */
function routeOf(request: LifecycleRequest): [path: string, body: object] {
  if (request.action !== 'close' && request.action !== 'reopen') return ['/lifecycle', request];
  const { fiber, ...fields } = request;
  return ['/transition', { ...fields, fiber_id: fiber }];
}

async function askDaemon(daemon: DaemonClient, request: LifecycleRequest): Promise<string> {
  const [path, body] = routeOf(request);
  if (path === '/transition') return (await daemon.post(path, body, actedSchema)).text;
  const answer = await daemon.request('POST', '/lifecycle', request);
  if (answer.status === 200 && typeof answer.body === 'string') return answer.body;
  throw errorOf(answer, path);
}

async function writeHere(
  context: CliContext,
  found: FoundFiber,
  request: LifecycleRequest,
  local: boolean,
): Promise<string> {
  if ('kill' in request && request.kill === true)
    throw new CodedError(
      'daemon_unreachable',
      'only the daemon can end a worker; start it with: svc daemon start, or leave --kill out',
    );
  // With `--local` a daemon may have asked for the document alone.
  if (
    request.action === 'reshape' &&
    request.worktree === false &&
    !local &&
    worktreeOf(found.store.read(found.id)) !== null
  )
    throw new CodedError(
      'daemon_unreachable',
      'only the daemon can remove a git worktree; start it with: svc daemon start',
    );
  const fiber = await found.store.update(found.id, planHere(context, request));
  if (request.action === 'resume') liftHold(context, fiber);
  return (
    describeFiber(fiber) + describeUnchanged(request.action, fiber) + wordsOfWorker(request, fiber, local)
  );
}

/** Only a daemon knows and ends the worker of work that is accepted here; with `--local` the daemon itself sees to it. */
function wordsOfWorker(request: LifecycleRequest, { id, svc }: FiberDocument, local: boolean): string {
  if (request.action !== 'accept' || request.keep_worker === true || local) return '';
  return svc?.runtime?.dispatched_at === undefined
    ? ''
    : `No daemon did this, so a worker that still runs goes on; once one runs, end it with: svc kill ${shellWord(id)}\n`;
}

/** No daemon does it: the next one must not hold what a person has resumed. */
function liftHold(context: CliContext, { uid, path }: FiberDocument): void {
  const { holds_dir } = dataPaths(readSettings(context.env));
  try {
    removeHold(holds_dir, uid ?? path);
  } catch (error) {
    throw storageError(holds_dir, error, 'the fiber stays held');
  }
}

function rehearseHere(context: CliContext, found: FoundFiber, request: LifecycleRequest): Rehearsal {
  return rehearsedWrite(
    deedWords(request.action),
    found.store.planEdit(found.id, planHere(context, request)),
  );
}

/** The `svc` block of a new fiber that is installed with these fields. */
export function installedBlock(
  context: CliContext,
  fiber: DocumentWithBody,
  fields: Extract<LifecycleFields, { action: 'install' }>,
): SvcBlock {
  const edit = planHere(context, requestOf({ ...fields, fiber: fiber.id }))(fiber);
  const own = Object.entries(edit?.set ?? {}).flatMap(([path, value]) =>
    path.startsWith('svc.') && value !== undefined ? [[path.slice('svc.'.length), value]] : [],
  );
  return Object.fromEntries(own) as SvcBlock;
}

function planHere(context: CliContext, request: LifecycleRequest): PlanEdit {
  const host = thisHost(context);
  const now = context.clock.now();
  const facts = {
    this_host: host,
    this_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    new_uid: ulid(now),
    running: false,
  };
  const registry = loadRegistry(readSettings(context.env));
  const isHere = (document: FiberDocument) =>
    (('host' in request ? request.host : undefined) ?? document.svc?.host ?? host) === host;
  return (document) => planAction(document, request, facts, isHere(document) ? registry : null, now);
}

function localFolder(context: CliContext, given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const path = resolveDirectory(given, context.cwd);
  requireProjectFolder(path, '--project-dir');
  return path;
}
