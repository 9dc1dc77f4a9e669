import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { shellLine } from '../base/shell-word.ts';
import { readRegularFileSync } from '../platform/regular-file.ts';
import type { StoreProblem } from './check.ts';
import { MAX_DOCUMENT_BYTES, parseRow } from './document.ts';
import { FIBERS_FOLDER } from './fiber-id.ts';
import type { Store } from './store.ts';

/**
 * The folders of a store whose document has another name than its folder, so that nothing lists it: the folder was renamed,
 * or an archive wrote one of both names in another form of Unicode. A folder without the document of a fiber only groups
 * others, and whatever lies beside a document belongs to it.
 */
export function unlistedDocuments(store: Store): StoreProblem[] {
  const { root } = store;
  const problems: StoreProblem[] = [];
  const walk = (path: string): void => {
    let entries: Dirent[];
    try {
      const folder = join(root, FIBERS_FOLDER, path);
      if (!store.hasFolder(folder)) return;
      entries = readdirSync(folder, { withFileTypes: true });
    } catch {
      // The listing says so.
      return;
    }
    const seen = entries.filter(({ name }) => !name.startsWith('.'));
    if (path !== '') problems.push(...unlistedIn(root, path, seen));
    for (const entry of seen)
      if (entry.isDirectory()) walk(path === '' ? entry.name : `${path}/${entry.name}`);
  };
  walk('');
  return problems;
}

function unlistedIn(root: string, path: string, entries: readonly Dirent[]): StoreProblem[] {
  const folder = join(root, FIBERS_FOLDER, path);
  const leaf = path.slice(path.lastIndexOf('/') + 1);
  const names = entries.filter((one) => one.isFile() && one.name.endsWith('.md')).map(({ name }) => name);
  const own = `${leaf}.md`;
  if (names.includes(own)) return [];
  const twin = names.find((name) => name.normalize('NFC') === own.normalize('NFC'));
  if (twin !== undefined) {
    const composed = leaf.normalize('NFC');
    const mends = [
      ...(twin === `${composed}.md` ? [] : [[join(folder, twin), join(folder, `${composed}.md`)]]),
      ...(leaf === composed ? [] : [[folder, join(folder, '..', composed)]]),
    ];
    const message = `no fiber is read here: the names of the folder and of its document ${twin} look the same and are written in two forms of Unicode; run: ${mends.map((words) => shellLine(['mv', ...words])).join(' && ')}`;
    return [{ path: folder, message }];
  }
  const documents = names.filter((name) => isFiber(join(folder, name), root));
  const [only] = documents;
  if (only === undefined) return [];
  const said = `no fiber is read here: its document has to be named ${own}`;
  const message =
    documents.length === 1
      ? `${said}, and is ${only}; run: ${shellLine(['mv', join(folder, only), join(folder, own)])}`
      : `${said}, and there are ${documents.join(', ')}; give each a folder of its name`;
  return [{ path: folder, message }];
}

/** True for a file whose frontmatter has the uid of a fiber. */
function isFiber(path: string, store: string): boolean {
  try {
    const bytes = readRegularFileSync(path, MAX_DOCUMENT_BYTES, { follow: false });
    return parseRow(bytes, { store, path, relativePath: 'x/x.md' }).uid !== null;
  } catch {
    return false;
  }
}
