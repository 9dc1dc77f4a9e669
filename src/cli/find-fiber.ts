import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { CodedError, isCoded, messageOf, systemCode } from '../base/errors.ts';
import { expandHome, readSettings, type Settings } from '../config/settings.ts';
import { hostFileSchema, storesFileSchema } from '../contract/operator-files.ts';
import { FIBERS_FOLDER } from '../fibers/fiber-id.ts';
import { type FoundFiber, findFiber } from '../fibers/find-fiber.ts';
import { openStore, type Store } from '../fibers/store.ts';
import type { CliContext } from './verb.ts';

/** The stores a verb works on, and those that could not be opened. */
export type OpenedStores = { stores: Store[]; problems: CodedError[] };

/**
 * Opens the store named by `--store`, else the configured ones, else the one that the current folder lies in.
 * Throws `store_not_found` when there is none of these.
 */
export function openStores(context: CliContext, only?: string): OpenedStores {
  const roots = only === undefined ? configuredRoots(context) : [resolve(context.cwd, expandHome(only))];
  const opened: OpenedStores = { stores: [], problems: [] };
  for (const root of new Set(roots)) {
    try {
      opened.stores.push(openStore(root, { clock: context.clock }));
    } catch (error) {
      if (!isCoded(error)) throw error;
      opened.problems.push(error);
    }
  }
  return opened;
}

/** The one store that a new fiber goes to; throws when several are configured and none was named. */
export function openOneStore(context: CliContext, only?: string): Store {
  const { stores, problems } = openStores(context, only);
  if (problems[0] !== undefined) throw problems[0];
  if (stores.length === 1) return stores[0]!;
  const roots = stores.map((store) => store.root).join(', ');
  throw new CodedError('invalid_request', `several stores are configured (${roots}); name one with --store`);
}

/** Resolves a canonical id, uid or leaf; see `findFiber`. */
export function findInStores(context: CliContext, reference: string, only?: string): FoundFiber {
  const { stores, problems } = openStores(context, only);
  try {
    return findFiber(stores, reference);
  } catch (error) {
    if (isCoded(error, 'fiber_not_found') && problems[0] !== undefined) throw problems[0];
    throw error;
  }
}

/** Host id of this machine: `SVC_HOST`, else `host.json`, else the OS host name in lower case without its domain. */
export function thisHost(context: CliContext): string {
  const settings = readSettings(context.env);
  if (settings.host !== null) return settings.host;
  const file = settings.host_config_file ?? join(settings.config_dir, 'host.json');
  const named = readJson(file, (value) => hostFileSchema.parse(value).host);
  return named ?? hostname().split('.')[0]!.toLowerCase();
}

function configuredRoots(context: CliContext): string[] {
  const settings = readSettings(context.env);
  const roots = settings.stores ?? storesFile(settings);
  if (roots.length > 0) return roots;
  for (let at = context.cwd; ; at = dirname(at)) {
    if (existsSync(join(at, FIBERS_FOLDER))) return [at];
    if (dirname(at) === at) break;
  }
  throw new CodedError(
    'store_not_found',
    'no store is configured; make one with "svc fiber init DIR" and name it with --store or SVC_STORES',
  );
}

function storesFile(settings: Settings): string[] {
  const file = join(settings.config_dir, 'stores.json');
  return (
    readJson(file, (value) =>
      storesFileSchema.parse(value).stores.map((path) => resolve(expandHome(path))),
    ) ?? []
  );
}

function readJson<T>(path: string, parse: (value: unknown) => T): T | undefined {
  try {
    return parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw new CodedError('invalid_config', `${path} cannot be used: ${messageOf(error)}`, { cause: error });
  }
}
