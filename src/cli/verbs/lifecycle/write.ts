import { type Command, Option } from 'commander';
import { ulid } from 'ulid';
import { CodedError } from '../../../base/errors.ts';
import { resolveDirectory } from '../../../config/resolve-directory.ts';
import { readSettings } from '../../../config/settings.ts';
import { type FiberDocument, SURFACES, surfaceSchema } from '../../../contract/fiber.ts';
import { type LifecycleRequest, lifecycleRequestSchema } from '../../../contract/http/lifecycle.ts';
import type { Rehearsal } from '../../../contract/http/rehearsal.ts';
import { stateSchema } from '../../../contract/http/state.ts';
import type { FoundFiber } from '../../../fibers/find-fiber.ts';
import { rehearsedWrite } from '../../../fibers/rehearsed-write.ts';
import type { PlanEdit } from '../../../fibers/store.ts';
import { loadRegistry } from '../../../harness/agents/registry.ts';
import { describeFiber, isArming, planAction } from '../../../lifecycle/actions.ts';
import { DRY_RUN, printRehearsal, rehearseRequest } from '../../command-line/rehearsal.ts';
import { type CliContext, EXIT, type ExitCode } from '../../command-line/verb.ts';
import { connectDaemon, type DaemonClient, errorOf } from '../../daemon-client/client.ts';
import { findInStores, thisHost } from '../../find-fiber.ts';
import { claimBeforeArming, ownFiber } from '../capture-session.ts';
import { requireProjectFolder } from '../resolve-dir.ts';
import { whatNext } from './what-next.ts';

/** Options of every lifecycle verb. */
export type LifecycleOptions = { store?: string; dryRun?: boolean; local?: boolean; json?: boolean };
/** Options that install, repeat, pin and reshape share. */
export type ServiceOptions = LifecycleOptions & {
  projectDir?: string;
  agent?: string;
  effort?: string;
  host?: string;
  surface?: string;
};
type Fields<R> = R extends LifecycleRequest ? Omit<R, 'fiber' | 'store' | 'origin'> : never;
/** A request without its fiber, which the command line names in its own way. */
export type LifecycleFields = Fields<LifecycleRequest>;

export function addLifecycleOptions(command: Command): Command {
  return command
    .option('--store <dir>', 'store to look in')
    .option(...DRY_RUN)
    .addOption(
      new Option('--local', 'write the document here, even where a daemon could be asked to').hideHelp(),
    )
    .option('--json', 'print JSON');
}

export function addFiberArgument(command: Command): Command {
  return command.argument('<fiber>', 'canonical id, uid or leaf');
}

export function addServiceOptions(command: Command): Command {
  return addLifecycleOptions(
    addFiberArgument(command)
      .option('--project-dir <dir>', 'folder that the worker runs in')
      .option('--agent <id>', 'agent of the registry')
      .option('--effort <level>', 'effort of the agent')
      .option('--host <id>', 'host that owns dispatch; this host otherwise')
      .option('--surface <surface>', SURFACES.join(' or ')),
  );
}

/** The fields that the options give; a folder on this host must exist, one on another host must be absolute. */
export function readServiceFields(context: CliContext, options: ServiceOptions) {
  const surface = options.surface === undefined ? undefined : surfaceSchema.safeParse(options.surface);
  if (surface?.success === false) {
    throw new CodedError(
      'invalid_request',
      `"${options.surface}" is not a surface; it takes ${SURFACES.join(' or ')}`,
    );
  }
  const isHere = options.host === undefined || options.host === thisHost(context);
  return {
    host: options.host,
    project_dir: isHere ? localFolder(context, options.projectDir) : options.projectDir,
    agent: options.agent,
    effort: options.effort,
    surface: surface?.data,
  };
}

/**
 * Runs one lifecycle verb and prints where the fiber stands afterwards. The daemon that polls the fiber's store does the
 * write, in turn with its own; where none runs, or with `--local`, the document is written here under its lock.
 */
export async function runLifecycle(
  context: CliContext,
  reference: string,
  options: LifecycleOptions,
  fields: LifecycleFields,
  exit: (code: ExitCode) => void,
): Promise<void> {
  const found = findInStores(context, reference, options.store);
  const parsed = lifecycleRequestSchema.safeParse({ ...fields, fiber: found.id, store: found.store.root });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new CodedError('invalid_request', `${issue?.path.join('.')}: ${issue?.message}`);
  }
  if (isArming(fields.action, true) && options.local !== true && options.dryRun !== true)
    await claimBeforeArming(context, found.id);
  const daemon = options.local === true ? null : await daemonOf(context, found.store.root);
  if (options.dryRun === true) {
    if (daemon !== null) await rehearseRequest(context, daemon, '/lifecycle', parsed.data, options);
    else printRehearsal(context, rehearseHere(context, found, parsed.data), options);
    exit(EXIT.ok);
    return;
  }
  const text =
    daemon === null ? await writeHere(context, found, parsed.data) : await askDaemon(daemon, parsed.data);
  const { body: _body, ...fiber } = found.store.read(found.id);
  if (options.json === true) context.out(`${JSON.stringify({ fiber })}\n`);
  else {
    context.out(text);
    const isOwn = fiber.uid !== null && ownFiber(context) === fiber.uid;
    if (options.local !== true)
      context.out(isOwn ? 'This session is its worker.\n' : await whatNext(context, fiber));
  }
  exit(EXIT.ok);
}

/** The daemon here, where it is ready and polls this store. */
export async function daemonOf(context: CliContext, root: string): Promise<DaemonClient | null> {
  try {
    const daemon = await connectDaemon(readSettings(context.env));
    const { poll_health } = await daemon.get('/state', stateSchema);
    return poll_health.stores.some(({ store }) => store === root) ? daemon : null;
  } catch (error) {
    // One that is starting or does not answer cannot write now, and the lock keeps its later writes apart from ours.
    if (error instanceof CodedError) return null;
    throw error;
  }
}

async function askDaemon(daemon: DaemonClient, request: LifecycleRequest): Promise<string> {
  const answer = await daemon.request('POST', '/lifecycle', request);
  if (typeof answer.body !== 'string') throw errorOf(answer, '/lifecycle');
  if (answer.status === 200) return answer.body;
  const sentence = answer.body.trim().replace(/^svc exited \d+: /, '');
  throw new CodedError(answer.refusal ?? 'invalid_request', sentence);
}

async function writeHere(context: CliContext, found: FoundFiber, request: LifecycleRequest): Promise<string> {
  if ('kill' in request && request.kill === true)
    throw new CodedError(
      'daemon_unreachable',
      'only the daemon can end a worker; start it with: svc daemon start, or leave --kill out',
    );
  return describeFiber(await found.store.update(found.id, planHere(context, request)));
}

function rehearseHere(context: CliContext, found: FoundFiber, request: LifecycleRequest): Rehearsal {
  return rehearsedWrite('write', found.store.rehearse(found.id, planHere(context, request)));
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
  const { registry } = loadRegistry(readSettings(context.env));
  const isHere = (document: FiberDocument) =>
    (('host' in request ? request.host : undefined) ?? document.svc?.host ?? host) === host;
  return (document) => planAction(document, request, facts, isHere(document) ? registry : null, now);
}

function localFolder(context: CliContext, given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const path = resolveDirectory(given, context.cwd);
  requireProjectFolder(path);
  return path;
}
