import { lstatSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { CodedError, isCoded, messageOf, systemCode } from '../base/errors.ts';

import {
  removeLeftTemporaries,
  removeQuietly,
  syncFolder,
  writeFileAtomic,
} from '../platform/atomic-write.ts';

import { acquireFileLock, isLockName, removeLeftLockFiles } from '../platform/file-lock.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { DocumentReader } from './document-reader.ts';
import { FIBERS_FOLDER, isFeedId, leafOf } from './fiber-id.ts';
import { nameLinks, renameLinks } from './links.ts';
import type { PlanEdit, PlannedWrite, Store } from './store.ts';

/** The result of a move. `unwritten` lists documents whose links could not be rewritten, with the reason. */
export type Nested = {
  id: string;
  new_id: string;
  rewritten: string[];
  unwritten: { id: string; message: string }[];
};

/** `.fibers/.nest.json`: a journal of the move in progress, so that the next move finishes an interrupted one. */
const journalSchema = z.object({ from: z.string(), to: z.string(), bare: z.boolean() });
type Journal = z.infer<typeof journalSchema>;
/** Number of documents processed before yielding to the event loop. */
const TURN = 100;

/**
 * Moves a fiber below another one, or to the top of its store for null. Its folder moves with children and companions,
 * and every link in the store to a moved id is rewritten (WPL-12). The move survives a crash at any point: it is
 * recorded in the journal, made in one rename, and then links are rewritten; `finishNest` completes a recorded move.
 * `onMoving` is called under the lock of all moves, while the documents are at their old path; `onMoved` as soon as
 * they are at their new one.
 *
 * Throws `fiber_not_found`, `already_exists`, `ambiguous_fiber`, `store_unavailable`, and `invalid_request` for a move
 * below itself.
 */
export async function nestFiber(
  store: Store,
  id: string,
  parent: string | null,
  { onMoving, onMoved }: { onMoving?(): void; onMoved?(): void } = {},
): Promise<Nested> {
  store.requireThere();
  return withNestLock(store, async () => {
    await finish(store);
    const { path, new_id, journal } = planMove(store, id, parent);
    if (journal === null) return { id, new_id, rewritten: [], unwritten: [] };
    onMoving?.();
    writeFileAtomic(journalPath(store), `${JSON.stringify(journal)}\n`);
    try {
      await move(store, journal);
    } catch (error) {
      if (isTaken(path)) rmSync(journalPath(store), { force: true });
      throw error;
    }
    onMoved?.();
    return { id, new_id, ...(await rewrite(store, journal)) };
  });
}

/** A planned move: what is renamed, and what is written after the rename. */
export type PlannedNest = Pick<Nested, 'id' | 'new_id' | 'unwritten'> & {
  moves: { from: string; to: string }[];
  documents: PlannedWrite[];
};

/**
 * Plans `nestFiber` with all its checks, without lock or write. Throws `conflict` while another move of this store is
 * unfinished, since the real call would finish that one first.
 */
export async function planNest(store: Store, id: string, parent: string | null): Promise<PlannedNest> {
  const pending = readJournal(store);
  if (pending !== null)
    throw new CodedError(
      'conflict',
      `the move of ${pending.from} to ${pending.to} is not finished; wait for it, or make this move without a dry run, which finishes it first`,
    );
  const { path, new_id, journal } = planMove(store, id, parent);
  if (journal === null) return { id, new_id, moves: [], documents: [], unwritten: [] };
  const [from, to] = [join(baseOf(store), id), join(baseOf(store), new_id)];
  const moves = !journal.bare || isTaken(from) ? [{ from, to }] : [];
  if (journal.bare) moves.push({ from: path, to: documentAt(store, new_id) });
  const documents: PlannedWrite[] = [];
  const { unwritten } = await eachNaming(store, id, async (row) => {
    const after = moves.find((one) => row.path === one.from || row.path.startsWith(`${one.from}/`));
    const place = after === undefined ? row.path : `${after.to}${row.path.slice(after.from.length)}`;
    const planned = await store.whenRead(() => store.planEdit(row.id, planLinks(id, new_id), { place }));
    if (planned.after !== planned.before) documents.push(planned);
  });
  return { id, new_id, moves, documents, unwritten };
}

/** Finishes an interrupted move; returns its new id, or null if there was none. */
export async function finishNest(store: Store): Promise<string | null> {
  return isTaken(journalPath(store)) ? withNestLock(store, () => finish(store)) : null;
}

async function withNestLock<T>(store: Store, run: () => Promise<T>): Promise<T> {
  // One that is a link is refused before anything follows it.
  readJournal(store);
  const path = join(baseOf(store), '.nest.lock');
  const lock = await acquireFileLock(path);
  try {
    removeLeftTemporaries(journalPath(store));
    removeLeftLockFiles(path);
    return await run();
  } finally {
    lock.release();
  }
}

/** Runs every check of a move; without a journal it moves nothing. */
function planMove(
  store: Store,
  id: string,
  parent: string | null,
): { path: string; new_id: string; journal: Journal | null } {
  const path = store.requireOwn(id);
  if (parent !== null) requireParent(store, id, parent);
  const new_id = parent === null ? leafOf(id) : `${parent}/${leafOf(id)}`;
  if (new_id === id) return { path, new_id, journal: null };
  requireFree(store, new_id);
  return { path, new_id, journal: { from: id, to: new_id, bare: dirname(path) === baseOf(store) } };
}

async function finish(store: Store): Promise<string | null> {
  const journal = readJournal(store);
  if (journal === null) return null;
  const moved = isTaken(documentAt(store, journal.to));
  // A folder moves in one rename, so if that failed nothing has changed. A bare document takes two steps.
  if (!moved && !journal.bare) {
    rmSync(journalPath(store), { force: true });
    return null;
  }
  if (!moved) await move(store, journal);
  await rewrite(store, journal);
  return journal.to;
}

async function move(store: Store, journal: Journal): Promise<void> {
  const base = baseOf(store);
  const [from, to] = [join(base, journal.from), join(base, journal.to)];
  const path = join(journal.bare ? base : from, `.${leafOf(journal.from)}.lock`);
  const lock = await acquireFileLock(path);
  try {
    removeLeftLockFiles(path);
    makeFolder(dirname(to), 0o777);
    if (isTaken(from)) renameSync(from, to);
    if (journal.bare) {
      makeFolder(to, 0o777);
      renameSync(`${from}.md`, documentAt(store, journal.to));
    } else for (const name of readdirSync(to).filter(isLockName)) rmSync(join(to, name), { force: true });
    for (const folder of new Set([dirname(from), dirname(to), to])) syncFolder(folder);
  } finally {
    lock.release();
  }
  removeEmpty(base, dirname(from));
}

async function rewrite(
  store: Store,
  { from, to }: Journal,
): Promise<Pick<Nested, 'rewritten' | 'unwritten'>> {
  const rewritten: string[] = [];
  const { unwritten } = await eachNaming(store, from, async (row) => {
    await store.update(row.id, planLinks(from, to));
    rewritten.push(row.id);
  });
  // The move is done. If the journal cannot be removed, the next move finds it and has nothing left to do.
  removeQuietly(journalPath(store));
  return { rewritten, unwritten };
}

/** Visits each document with a link to the fiber or a descendant; one that cannot be read or changed is `unwritten`. */
async function eachNaming(
  store: Store,
  id: string,
  visit: (row: { id: string; path: string }) => Promise<void>,
): Promise<Pick<Nested, 'unwritten'>> {
  const unwritten: Nested['unwritten'] = [];
  let looked = 0;
  for (const row of store.places()) {
    looked += 1;
    if (looked % TURN === 0) await nextTurn();
    try {
      if (nameLinks(store.readBytes(row.path).toString('utf8'), id)) await visit(row);
    } catch (error) {
      if (!isCoded(error) && systemCode(error) === undefined) throw error;
      unwritten.push({ id: row.id, message: messageOf(error) });
    }
  }
  return { unwritten };
}

/** Rewrites the links of one document to the new id. */
function planLinks(from: string, to: string): PlanEdit {
  return (document) => {
    const body = renameLinks(document.body, from, to);
    const outcome = document.outcome === undefined ? undefined : renameLinks(document.outcome, from, to);
    const set = outcome === undefined || outcome === document.outcome ? {} : { outcome };
    if (body === document.body && Object.keys(set).length === 0) return null;
    return { set, ...(body === document.body ? {} : { body }) };
  };
}

function requireParent(store: Store, id: string, parent: string): void {
  if (parent === id || parent.startsWith(`${id}/`))
    throw new CodedError(
      'invalid_request',
      `"${id}" cannot be filed below itself, under "${parent}"; name another parent`,
    );
  if (store.locate(parent) === null) throw notFound(parent);
}

function requireFree(store: Store, id: string): void {
  if (isFeedId(id))
    throw new CodedError(
      'already_exists',
      `"${id}" is the feed of all hosts in /fibers, and no fiber at the top level can be called so; leave it below a parent`,
      { details: { id } },
    );
  const folder = join(baseOf(store), id);
  const taken = store.locate(id) !== null || (isTaken(folder) && readdirSync(folder).length > 0);
  if (!taken) return;
  throw new CodedError(
    'already_exists',
    `"${id}" exists already in ${store.root}; move or rename that one first`,
    { details: { id } },
  );
}

function readJournal(store: Store): Journal | null {
  try {
    return journalSchema.parse(
      JSON.parse(
        new DocumentReader(store.root, { follow: false, answering: store.answering })
          .read(journalPath(store))
          .bytes.toString('utf8'),
      ),
    );
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw new CodedError(
      'store_unavailable',
      `${journalPath(store)} cannot be read (${messageOf(error)}); check whether the move that it records is complete, then delete it`,
      { cause: error },
    );
  }
}

function removeEmpty(base: string, folder: string): void {
  for (let at = folder; at !== base && at.startsWith(base); at = dirname(at)) {
    try {
      rmdirSync(at);
    } catch {
      return;
    }
  }
}

function baseOf(store: Store): string {
  return join(store.root, FIBERS_FOLDER);
}

function journalPath(store: Store): string {
  return join(baseOf(store), '.nest.json');
}

function documentAt(store: Store, id: string): string {
  return join(baseOf(store), id, `${basename(id)}.md`);
}

function notFound(id: string): CodedError {
  return new CodedError('fiber_not_found', `no fiber "${id}"; "svc fiber ls" lists them`);
}

/** Whether anything lies at a path; a link there is not followed. */
function isTaken(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
