// `node reader.ts <store> …`: reads every document over and over until its standard input ends, and tells what
// no reader may ever see, one JSON line each, and at the end how often it read.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseDocument } from '../../src/fibers/document.ts';
import { UNKNOWN_KEYS } from './unknown-keys.ts';

const roots = process.argv.slice(2);
const uids = new Map<string, string>();
let reads = 0;
let ended = false;
process.stdin.on('end', () => {
  ended = true;
});
process.stdin.resume();

function look(store: string, slug: string): void {
  const path = join(store, '.fibers', slug, `${slug}.md`);
  const faults: string[] = [];
  let text = '';
  try {
    const bytes = readFileSync(path);
    text = bytes.toString('utf8');
    const document = parseDocument(bytes, { store, path, relativePath: `${slug}/${slug}.md` });
    if (document.error !== undefined) faults.push(document.error);
    const known = uids.get(path);
    if (document.uid === null || (known !== undefined && known !== document.uid)) faults.push('uid');
    uids.set(path, document.uid ?? '');
    if (!document.body.startsWith(`begin ${slug}\n`) || !document.body.endsWith(`end ${slug}\n`))
      faults.push('body');
    if (!text.includes(UNKNOWN_KEYS)) faults.push('unknown keys');
    if (document.name !== `Fiber ${slug}`) faults.push('name');
  } catch (error) {
    faults.push((error as Error).message);
  }
  reads += 1;
  if (faults.length > 0) process.stdout.write(`${JSON.stringify({ path, faults, text })}\n`);
}

const slugs = roots.map((root) => [root, readdirSync(join(root, '.fibers'))] as const);
while (!ended) {
  for (const [root, names] of slugs) for (const slug of names) look(root, slug);
  await delay(20);
}
process.stdout.write(`${JSON.stringify({ reads })}\n`);
