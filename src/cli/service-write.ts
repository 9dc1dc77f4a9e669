import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { ulid } from 'ulid';
import { CodedError } from '../base/errors.ts';
import { expandHome } from '../config/settings.ts';
import { SURFACES, surfaceSchema } from '../contract/fiber.ts';
import type { PlanEdit } from '../fibers/store.ts';
import type { ServiceFields } from '../lifecycle/service-verbs.ts';
import { claimBeforeArming, ownFiber } from './capture-session.ts';
import { findInStores, thisHost } from './find-fiber.ts';
import { type CliContext, EXIT, type ExitCode } from './verb.ts';
import { whatNext } from './what-next.ts';

/** Options that install, repeat and pin share. */
export type ServiceOptions = {
  projectDir?: string;
  agent?: string;
  effort?: string;
  host?: string;
  surface?: string;
  store?: string;
  json?: boolean;
};

export function addServiceOptions(command: Command): Command {
  return command
    .argument('<fiber>', 'canonical id, uid or leaf')
    .option('--project-dir <dir>', 'folder that the worker runs in')
    .option('--agent <id>', 'agent of the registry')
    .option('--effort <level>', 'effort of the agent')
    .option('--host <id>', 'host that owns dispatch; this host otherwise')
    .option('--surface <surface>', SURFACES.join(' or '))
    .option('--store <dir>', 'store to look in')
    .option('--json', 'print JSON');
}

/** The fields that the options give; a folder on this host must exist, one on another host must be absolute. */
export function readServiceFields(context: CliContext, options: ServiceOptions): ServiceFields {
  const host = thisHost(context);
  const surface = options.surface === undefined ? undefined : surfaceSchema.safeParse(options.surface);
  if (surface?.success === false) {
    throw new CodedError(
      'invalid_request',
      `"${options.surface}" is not a surface; it takes ${SURFACES.join(' or ')}`,
    );
  }
  const isHere = options.host === undefined || options.host === host;
  return {
    thisHost: host,
    host: options.host,
    project_dir: isHere ? localFolder(context, options.projectDir) : options.projectDir,
    agent: options.agent,
    effort: options.effort,
    surface: surface?.data,
    newUid: ulid(context.clock.now()),
  };
}

/** Runs one planned write and prints where the fiber stands afterwards. */
export async function writeService(
  context: CliContext,
  reference: string,
  options: { store?: string; json?: boolean },
  plan: PlanEdit,
  exit: (code: ExitCode) => void,
): Promise<void> {
  const { store, id } = findInStores(context, reference, options.store);
  await claimBeforeArming(context, id);
  const { body: _body, ...fiber } = await store.update(id, plan);
  if (options.json === true) context.out(`${JSON.stringify({ fiber })}\n`);
  else {
    const service = fiber.svc === undefined ? 'no service' : `${fiber.svc.kind} on ${fiber.svc.host}`;
    context.out(`${fiber.id}: ${service}, ${fiber.status}\n`);
    context.out(
      fiber.uid !== null && ownFiber(context) === fiber.uid
        ? 'This session is its worker.\n'
        : await whatNext(context, fiber),
    );
  }
  exit(EXIT.ok);
}

function localFolder(context: CliContext, given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const path = resolve(context.cwd, expandHome(given));
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw new CodedError(
    'project_dir_missing',
    `not a directory: ${path}; make it or name another with --project-dir`,
  );
}
