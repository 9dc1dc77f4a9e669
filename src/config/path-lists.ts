import { isAbsolute, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { CodedError } from '../base/errors.ts';
import { projectsFileSchema, type StoreEntry, storesFileSchema } from '../contract/operator-files.ts';
import type { LockOwner } from '../platform/file-lock.ts';
import { setKey } from './json-splice.ts';
import { commitChange, digestOf, type OperatorChange, requireDigest } from './operator-change.ts';
import { withOperatorLock } from './operator-lock.ts';
import { parseOperatorText, readOperatorText } from './operator-text.ts';
import { operatorFilePaths } from './paths.ts';
import { expandHome, SETTINGS, type Settings } from './settings.ts';

/** Where a list came from: the environment variable, the operator file, or neither. */
type PathListSource = 'environment' | 'file' | 'none';

/** One of the two effective path lists; `paths` are absolute and without duplicates. */
export type PathList = {
  paths: string[];
  /** The paths whose documents may be links out of the store, which only `stores.json` can allow. */
  followed: string[];
  source: PathListSource;
  file: string;
};

/** The result of a write; `overridden_by` names the variable that overrides the file. */
export type PathListWrite = {
  file: string;
  paths: string[];
  followed: string[];
  changed: boolean;
  overridden_by: string | null;
  /** Digest of the file after the write. */
  digest: string;
};

/** A planned write of a list, not yet made. */
export type PathListPlan = PathListWrite & { change: OperatorChange };

export type PathListKind = 'stores' | 'projects';
const SCHEMAS: Record<PathListKind, z.ZodType<unknown>> = {
  stores: storesFileSchema,
  projects: projectsFileSchema,
};

/** A change of a list: replace it as a whole, or add a path unless it is there already. */
export type PathListEdit = { paths: readonly string[] } | { add: string };

export type PathListOptions = {
  /** Digest of the file when the writer read it; a different one is a `conflict` (OPF-6). */
  expected_digest?: string | undefined;
  owner?: LockOwner;
};

/** The stores to poll: `SVC_STORES`, else `stores.json`, else none (DSP-7). Throws `invalid_config`. */
export function readStores(settings: Settings): PathList {
  return readList(settings, 'stores');
}

/** The projects of the pickers: `SVC_PROJECTS`, else `projects.json`, else none (DSP-8). Throws `invalid_config`. */
export function readProjects(settings: Settings): PathList {
  return readList(settings, 'projects');
}

/**
 * Changes one of the lists under its file's lock, so that concurrent writers lose nothing. Keeps other keys of the file
 * and other fields of each entry; an empty list removes the file (OPF-6). Throws `invalid_config`, `conflict`,
 * `locked`.
 */
export function changePathList(
  settings: Settings,
  kind: PathListKind,
  edit: PathListEdit,
  options: PathListOptions = {},
): Promise<PathListWrite> {
  const file = operatorFilePaths(settings)[kind];
  return withOperatorLock(
    file,
    () => {
      const { change, ...written } = planPathList(settings, kind, edit, options);
      if (written.changed) commitChange(change);
      return written;
    },
    options.owner,
  );
}

/** Plans `changePathList` without lock or write. */
export function planPathList(
  settings: Settings,
  kind: PathListKind,
  edit: PathListEdit,
  options: PathListOptions = {},
): PathListPlan {
  const file = operatorFilePaths(settings)[kind];
  const before = readOperatorText(file);
  requireDigest(file, before, options.expected_digest);
  const document = before === null ? null : parseOperatorText(file, before, SCHEMAS[kind]);
  const entries = document === null ? [] : entriesOf(kind, document);
  const wanted = entriesAfter(kind, file, entries, edit);
  const changed = !isDeepStrictEqual(entries, wanted) || (wanted.length === 0 && before !== null);
  const after = changed ? textWith(kind, before, wanted) : before;
  return {
    file,
    ...inForce(kind, file, wanted),
    changed,
    overridden_by: overriddenBy(settings, kind),
    digest: digestOf(after),
    change: { file, before, after },
  };
}

/** Checks the text of a path list without reading or writing anything (OPF-5); returns the effective paths. */
export function parsePathList(kind: PathListKind, file: string, text: string): string[] {
  return listIn(kind, file, text).paths;
}

function readList(settings: Settings, kind: PathListKind): PathList {
  const file = operatorFilePaths(settings)[kind];
  const fromEnvironment = settings[kind];
  if (fromEnvironment !== null)
    return { paths: [...new Set(fromEnvironment)], followed: [], source: 'environment', file };
  const text = readOperatorText(file);
  if (text === null) return { paths: [], followed: [], source: 'none', file };
  return { ...listIn(kind, file, text), source: 'file', file };
}

function listIn(kind: PathListKind, file: string, text: string): Pick<PathList, 'paths' | 'followed'> {
  return inForce(kind, file, entriesOf(kind, parseOperatorText(file, text, SCHEMAS[kind])));
}

function inForce(
  kind: PathListKind,
  file: string,
  entries: readonly StoreEntry[],
): Pick<PathList, 'paths' | 'followed'> {
  const followed = entries.filter((entry) => typeof entry !== 'string' && entry.follow === true);
  return { paths: absolute(kind, file, entries), followed: absolute(kind, file, followed) };
}

/** Keeps the other fields of the entry of each path. */
function entriesAfter(
  kind: PathListKind,
  file: string,
  entries: StoreEntry[],
  edit: PathListEdit,
): StoreEntry[] {
  if ('add' in edit) {
    const [added = ''] = absolute(kind, file, [edit.add]);
    return absolute(kind, file, entries).includes(added) ? entries : [...entries, added];
  }
  const objects = entries.filter((entry) => typeof entry !== 'string');
  const known = new Map(objects.map((entry) => [absolute(kind, file, [entry])[0], entry]));
  return absolute(kind, file, edit.paths).map((path) => known.get(path) ?? path);
}

/** The file's text with another list; null for no file. All other text is kept byte for byte. */
function textWith(kind: PathListKind, before: string | null, paths: readonly StoreEntry[]): string | null {
  if (paths.length === 0) return null;
  const value: object | null = before === null ? null : JSON.parse(before);
  const whole = (document: object) => `${JSON.stringify(document, null, 2)}\n`;
  if (before === null || value === null || Array.isArray(value)) return whole({ version: 1, [kind]: paths });
  const meant = { ...value, [kind]: paths };
  if (Object.keys(value).every((key) => key === 'version' || key === kind))
    return whole({ version: 1, ...meant });
  const spliced = setKey(before, [kind], paths);
  // The text is spliced by position. If the result does not parse to the intended value, the file is written from
  // scratch.
  return saysWhatIsMeant(spliced, meant) ? spliced : whole(meant);
}

function saysWhatIsMeant(text: string, meant: object): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(text), meant);
  } catch {
    return false;
  }
}

function entriesOf(kind: PathListKind, document: unknown): string[] {
  return (document as Record<PathListKind, string[]>)[kind];
}

function overriddenBy(settings: Settings, kind: PathListKind): string | null {
  return settings[kind] === null ? null : SETTINGS[kind].env;
}

function absolute(kind: PathListKind, file: string, entries: readonly StoreEntry[]): string[] {
  const paths = entries.map((one) => {
    const entry = typeof one === 'string' ? one : one.path;
    const path = expandHome(entry.trim());
    if (isAbsolute(path) && !/[\u0000-\u001f\u007f]/.test(path)) return resolve(path);
    throw new CodedError(
      'invalid_config',
      `${file} lists ${JSON.stringify(entry)} under ${kind}; write it as an absolute path or one that starts with ~/`,
      { details: { file, entry } },
    );
  });
  return [...new Set(paths)];
}
