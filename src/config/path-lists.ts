import { isAbsolute, resolve } from 'node:path';
import type { z } from 'zod';
import { CodedError } from '../base/errors.ts';
import { projectsFileSchema, storesFileSchema } from '../contract/operator-files.ts';
import { parseOperatorText, readOperatorText, saveOperatorDocument } from './operator-text.ts';
import { operatorFilePaths } from './paths.ts';
import { expandHome, SETTINGS, type Settings } from './settings.ts';

/** Where a list came from: the environment variable, the operator file, or neither. */
export type PathListSource = 'environment' | 'file' | 'none';

/** One of the two path lists as it is in force; `paths` are absolute and without repeats. */
export type PathList = { paths: string[]; source: PathListSource; file: string };

/** What a write did; `overridden_by` names the variable that hides the file for as long as it is set. */
export type PathListWrite = { file: string; paths: string[]; changed: boolean; overridden_by: string | null };

type Kind = 'stores' | 'projects';
const SCHEMAS: Record<Kind, z.ZodType<unknown>> = { stores: storesFileSchema, projects: projectsFileSchema };

/** The stores to poll: `SVC_STORES`, else `stores.json`, else none (DSP-7). Throws `invalid_config`. */
export function readStores(settings: Settings): PathList {
  return readList(settings, 'stores');
}

/** The projects of the pickers: `SVC_PROJECTS`, else `projects.json`, else none (DSP-8). Throws `invalid_config`. */
export function readProjects(settings: Settings): PathList {
  return readList(settings, 'projects');
}

/** Replaces the list in `stores.json`; other keys of the file stay. Throws `invalid_config`. */
export function writeStores(settings: Settings, paths: readonly string[]): PathListWrite {
  return writeList(settings, 'stores', paths);
}

/** Replaces the list in `projects.json`; other keys of the file stay. Throws `invalid_config`. */
export function writeProjects(settings: Settings, paths: readonly string[]): PathListWrite {
  return writeList(settings, 'projects', paths);
}

/** Appends one store to `stores.json` unless it is listed already. Throws `invalid_config`. */
export function addStore(settings: Settings, path: string): PathListWrite {
  return addPath(settings, 'stores', path);
}

/** Appends one project to `projects.json` unless it is listed already. Throws `invalid_config`. */
export function addProject(settings: Settings, path: string): PathListWrite {
  return addPath(settings, 'projects', path);
}

/** Checks the text of a path list without reading or writing anything (OPF-5); answers the paths as in force. */
export function parsePathList(kind: Kind, file: string, text: string): string[] {
  return absolute(kind, file, entriesOf(kind, parseOperatorText(file, text, SCHEMAS[kind])));
}

function readList(settings: Settings, kind: Kind): PathList {
  const file = operatorFilePaths(settings)[kind];
  const fromEnvironment = settings[kind];
  if (fromEnvironment !== null) return { paths: [...new Set(fromEnvironment)], source: 'environment', file };
  const text = readOperatorText(file);
  if (text === null) return { paths: [], source: 'none', file };
  return { paths: parsePathList(kind, file, text), source: 'file', file };
}

function addPath(settings: Settings, kind: Kind, path: string): PathListWrite {
  const file = operatorFilePaths(settings)[kind];
  const document = readDocument(kind, file);
  const listed = absolute(kind, file, entriesOf(kind, document));
  const added = absolute(kind, file, [path])[0]!;
  const overridden_by = overriddenBy(settings, kind);
  if (listed.includes(added)) return { file, paths: listed, changed: false, overridden_by };
  saveOperatorDocument(file, { ...document, [kind]: [...entriesOf(kind, document), added] });
  return { file, paths: [...listed, added], changed: true, overridden_by };
}

function writeList(settings: Settings, kind: Kind, entries: readonly string[]): PathListWrite {
  const file = operatorFilePaths(settings)[kind];
  const paths = absolute(kind, file, entries);
  const document = readDocument(kind, file);
  const changed = JSON.stringify(entriesOf(kind, document)) !== JSON.stringify(paths);
  if (changed) saveOperatorDocument(file, { ...document, [kind]: paths });
  return { file, paths, changed, overridden_by: overriddenBy(settings, kind) };
}

function readDocument(kind: Kind, file: string): Record<string, unknown> {
  const text = readOperatorText(file);
  if (text === null) return { version: 1, [kind]: [] };
  const document = parseOperatorText(file, text, SCHEMAS[kind]) as Record<string, unknown>;
  return 'version' in document ? document : { version: 1, ...document };
}

function entriesOf(kind: Kind, document: unknown): string[] {
  return (document as Record<Kind, string[]>)[kind];
}

function overriddenBy(settings: Settings, kind: Kind): string | null {
  return settings[kind] === null ? null : SETTINGS[kind].env;
}

function absolute(kind: Kind, file: string, entries: readonly string[]): string[] {
  const paths = entries.map((entry) => {
    const path = expandHome(entry.trim());
    if (isAbsolute(path)) return resolve(path);
    throw new CodedError(
      'invalid_config',
      `${file} lists "${entry}" under ${kind}; write it as an absolute path or one that starts with ~/`,
      { details: { file, entry } },
    );
  });
  return [...new Set(paths)];
}
