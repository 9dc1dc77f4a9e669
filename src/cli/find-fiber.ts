import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { CodedError, isCoded, systemCode } from '../base/errors.ts';
import { resolveHostId } from '../config/host-identity.ts';
import { type PathList, readStores } from '../config/path-lists.ts';
import { expandHome, readSettings, type Settings } from '../config/settings.ts';
import { FIBERS_FOLDER } from '../fibers/fiber-id.ts';
import { type FoundFiber, findFiber } from '../fibers/find-fiber.ts';
import { proveStore } from '../fibers/prove-store.ts';
import { openStore, type Store } from '../fibers/store.ts';
import { storeUnavailable } from '../fibers/store-away.ts';
import { createDisks, unansweredWords } from '../platform/disks.ts';
import { foreignMountsOf, KnownMounts } from '../platform/foreign-mounts.ts';
import { createRunner } from '../platform/process.ts';
import type { CliContext } from './command-line/verb.ts';

/** The stores of a verb, and the errors of those that could not be opened. */
export type OpenedStores = { stores: Store[]; problems: CodedError[] };

/**
 * Opens the store of `--store`, else the configured stores, else the store that contains the current folder. Throws
 * `store_not_found` if there is none.
 */
export async function openStores(context: CliContext, only?: string): Promise<OpenedStores> {
  const roots = only === undefined ? configuredRoots(context) : [resolve(context.cwd, expandHome(only))];
  const { paths: listed, followed } = storeLists(readSettings(context.env));
  const opened: OpenedStores = { stores: [], problems: [] };
  for (const root of new Set(roots)) {
    try {
      opened.stores.push(await openAnswering(context, root, followed.includes(root)));
    } catch (error) {
      if (!isCoded(error)) throw error;
      // A store that is listed has been one, so its disk is more likely away than the store not made.
      const is_away = listed.includes(root) && systemCode(error.cause) === 'ENOENT';
      opened.problems.push(is_away ? storeUnavailable(root, error.cause) : error);
    }
  }
  return opened;
}

/**
 * Opens a store after its disks were asked. Only mounts of other machines cost a process that asks. Throws as `openStore`,
 * and `store_unavailable` for a disk that does not answer.
 */
export async function openAnswering(
  { clock }: Pick<CliContext, 'clock'>,
  root: string,
  follow: boolean,
): Promise<Store> {
  const base = join(root, FIBERS_FOLDER);
  let answering: string[] = [];
  if (foreignMountsOf([root, base], { anywhere: follow, answering }).length > 0) {
    const disks = createDisks({ clock, runner: createRunner() });
    const proof = await proveStore(disks, root, { follow }).finally(() => disks.stop());
    if (proof !== 'answers') throw new CodedError('store_unavailable', unansweredWords(base, proof));
    answering = disks.answering();
  }
  return openStore(root, { clock, follow: () => follow, answering: () => answering });
}

/** The store for a new fiber; throws if several are configured and none is named. */
export async function openOneStore(context: CliContext, only?: string): Promise<Store> {
  const { stores, problems } = await openStores(context, only);
  if (problems[0] !== undefined) throw problems[0];
  if (stores.length === 1) return stores[0]!;
  const roots = stores.map((store) => store.root).join(', ');
  throw new CodedError('invalid_request', `several stores are configured (${roots}); name one with --store`);
}

/** Resolves a canonical id, uid or leaf; see `findFiber`. */
export async function findInStores(
  context: CliContext,
  reference: string,
  only?: string,
): Promise<FoundFiber> {
  const { stores, problems } = await openStores(context, only);
  try {
    return findFiber(stores, reference);
  } catch (error) {
    if (isCoded(error, 'fiber_not_found') && problems[0] !== undefined) throw problems[0];
    throw error;
  }
}

/** Host id of this machine, as its daemon determines it. */
export function thisHost(context: CliContext): string {
  return resolveHostId(readSettings(context.env), { hostname: hostname(), persist: false }).host;
}

/** The stores whose documents may be links to files outside; empty if the list cannot be read. */
export function followedStores(settings: Settings): string[] {
  return storeLists(settings).followed;
}

function storeLists(settings: Settings): Pick<PathList, 'paths' | 'followed'> {
  try {
    return readStores(settings);
  } catch (error) {
    if (isCoded(error, 'invalid_config')) return { paths: [], followed: [] };
    throw error;
  }
}

function configuredRoots(context: CliContext): string[] {
  const roots = readStores(readSettings(context.env)).paths;
  if (roots.length > 0) return roots;
  const around = storeAround(context.cwd);
  if (around !== null) return [around];
  throw new CodedError('store_not_found', 'there is no store yet; make one with: svc fiber init ~/fibers');
}

/** The store that a folder lies in; null for none. */
export function storeAround(folder: string): string | null {
  // Who stands in a folder has entered its mount.
  const mounts = new KnownMounts(foreignMountsOf([folder], { anywhere: false, answering: [] }));
  for (let at = folder; ; at = dirname(at)) {
    if (mounts.follow(join(at, FIBERS_FOLDER)).kind !== 'missing') return at;
    if (dirname(at) === at) return null;
  }
}
