import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = new URL('../..', import.meta.url).pathname;
const ID = /\b(?:[A-Z]{3}-\d+|P\d{1,2})\b/;
const ANY_ID = new RegExp(ID, 'g');
/** `TMP-1 to TMP-5` cites what lies between too. */
const RANGE = /\b([A-Z]{3})-(\d+) to (?:\1-)?(\d+)\b/g;
/** Names of standards that look like an id. */
const STANDARDS = /\b(?:SHA-\d+|UTF-\d+|SSH-\d)\b/g;

/** `P1` to `P99` are citations in brackets, in round ones or in a list of them; elsewhere they may be percentiles. */
function citedIn(text: string): string[] {
  const plain = text.replace(STANDARDS, '');
  const between = [...plain.matchAll(RANGE)].flatMap(([, room, from, to]) =>
    Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => `${room}-${Number(from) + at}`),
  );
  return [...between, ...(plain.match(ANY_ID) ?? [])];
}

const cited = new Map<string, string>();
for (const folder of ['src', 'workers', 'board/src', 'test', 'bench'])
  for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
    if (!/\.(?:tsx?|mjs|cjs)$/.test(name) || join(folder, name) === 'test/ops/contract-page.test.ts')
      continue;
    for (const id of citedIn(readFileSync(join(ROOT, folder, name), 'utf8')))
      if (!cited.has(id)) cited.set(id, join(folder, name));
  }

const page = readFileSync(join(ROOT, 'ops/contract.md'), 'utf8');
const lines = [...page.matchAll(/^\| `([^`]+)`\s+\| (.*?)\s*\|$/gm)].map(
  ([, id, rule]) => [id!, rule!] as const,
);
const listed = lines.map(([id]) => id);

it('ops/contract.md has a line for every rule that code and tests cite', () => {
  const missing = [...cited].filter(([id]) => !listed.includes(id)).map(([id, file]) => `${id} (${file})`);
  expect(missing).toEqual([]);
});

it('ops/contract.md has no unused line, and none twice', () => {
  expect(listed.filter((id) => !cited.has(id))).toEqual([]);
  expect(listed.filter((id, at) => listed.indexOf(id) !== at)).toEqual([]);
  expect(listed.length).toBeGreaterThan(150);
});

it('ops/contract.md says each rule in one sentence of its own', () => {
  for (const [id, rule] of lines) {
    expect(id).toMatch(new RegExp(`^${ID.source}$`));
    expect(rule, id).toMatch(/^.{15,200}\.$/);
  }
});
