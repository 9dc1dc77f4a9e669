import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isTemporaryName } from '../../../src/platform/atomic-write.ts';
import { isLockName } from '../../../src/platform/file-lock.ts';

/** What lies below a folder at one moment, without what two runs of one command write differently. */
export type Files = {
  /** Content by path below the folder; a store's folder has `/` for content. */
  contents: Map<string, string>;
  /** Lock files, temporary files and notes of a move under way. */
  leftovers: string[];
};

const ULID = /\b[0-9A-HJKMNP-TV-Z]{26}\b/g;

/** Reads all below `root`. A ULID that is not in `known` becomes a placeholder, as do moments and digests. */
export function readFiles(root: string, known: ReadonlySet<string>): Files {
  const contents = new Map<string, string>();
  const leftovers: string[] = [];
  const read = (folder: string, prefix: string) => {
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name);
      const relative = `${prefix}${name}`;
      const stat = lstatSync(path);
      if (isTemporaryName(name) || isLockName(name) || name === '.nest.json') leftovers.push(relative);
      else if (relative === 'project') continue;
      else if (stat.isDirectory()) {
        // An empty folder is no loss and no effect, but for the one that makes a store.
        if (name === '.fibers') contents.set(relative, '/');
        read(path, `${relative}/`);
      } else if (stat.isSymbolicLink()) contents.set(relative, `-> ${readlinkSync(path)}`);
      else contents.set(relative, comparable(readFileSync(path, 'latin1'), root, known));
    }
  };
  read(root, '');
  return { contents, leftovers };
}

/** The ULIDs of all documents, by which a lost one is missed. */
export function ulidsIn(files: Files): Set<string> {
  const ulids = new Set<string>();
  for (const [path, content] of files.contents) {
    if (path.endsWith('.md')) for (const [ulid] of content.matchAll(ULID)) ulids.add(ulid);
  }
  return ulids;
}

/** A text without what two runs of one command write differently. */
export function comparable(text: string, root: string, known: ReadonlySet<string>): string {
  return text
    .replaceAll(root, '<root>')
    .replace(ULID, (ulid) => (known.has(ulid) ? ulid : '<ulid>'))
    .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\b/g, '<time>')
    .replace(/\b[0-9a-f]{64}\b/g, '<digest>')
    .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uuid>')
    .replace(/\b1[5-9]\d{11}\b/g, '<ms>');
}
