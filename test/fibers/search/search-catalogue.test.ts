import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseRow } from '../../../src/fibers/document.ts';
import { encodeCatalogue } from '../../../src/fibers/search/catalogue.ts';
import { FiberSearch } from '../../../src/fibers/search/search-catalogue.ts';
import { SearchTexts } from '../../../src/fibers/search/search-texts.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

const paths = new Set<string>();
afterEach(() => paths.clear());

function write(id: string, body: string, front: Record<string, unknown> = {}): string {
  const leaf = id.split('/').at(-1)!;
  const yaml = Object.entries({ name: leaf, status: 'open', ...front });
  const lines = yaml.map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  const path = scratch.write(`.fibers/${id}/${leaf}.md`, `---\n${lines.join('\n')}\n---\n${body}`);
  paths.add(path);
  return path;
}

function catalogue(): Uint8Array {
  const base = join(scratch.path, '.fibers');
  const rows = [...paths].map((path) =>
    parseRow(readFileSync(path), { store: scratch.path, path, relativePath: path.slice(base.length + 1) }),
  );
  return encodeCatalogue(rows);
}

let engine: FiberSearch;
let generation = 0;
beforeEach(() => {
  engine = new FiberSearch();
});
function search(query: string, more: { limit?: number; tag?: string; status?: 'open' | 'active' } = {}) {
  generation += 1;
  return engine.search(`g${generation}`, { query, limit: 20, ...more }, catalogue())!;
}
const idsOf = (query: string, more = {}) => search(query, more).hits.map(({ id }) => id);
const marked = ({ text, matches }: { text: string; matches: [number, number][] }) =>
  matches.map(([start, end]) => text.slice(start, end));

describe('a search over the bodies', () => {
  it('[RPL-4] finds the fibers that have every word, and no other', () => {
    write('a', 'The loader reads fonts.\n');
    write('b', 'The loader writes.\n');
    write('c', 'Fonts only.\n');
    expect(idsOf('loader')).toEqual(expect.arrayContaining(['a', 'b']));
    expect(search('loader')).toMatchObject({ total: 2, complete: true, terms: ['loader'] });
    expect(idsOf('fonts loader')).toEqual(['a']);
    expect(idsOf('nothing')).toEqual([]);
  });

  it('[RPL-4] matches the beginning of a word and an exact quoted text, but not the middle of a word', () => {
    write('a', 'An overloaded\nloader of fonts.\n');
    write('b', 'The overloaded bus.\n');
    expect(idsOf('load')).toEqual(['a']);
    expect(idsOf('"loader of fonts"')).toEqual(['a']);
    expect(idsOf('"overloaded loader"')).toEqual(['a']);
    expect(idsOf('"loader fonts"')).toEqual([]);
    expect(idsOf('loader, fonts.')).toEqual(['a']);
  });

  it.each([
    ['cafe', 'Im CAFÉ nebenan'],
    ['CAFÉ', 'im cafe\u0301 nebenan'],
    ['strasse', 'Die Straße'],
    ['οδοσ', 'Η ΟΔΟΣ'],
    ['istanbul', 'İstanbul'],
    ['ｆｉｂｅｒ', 'a fiber'],
    ['検索', '全文検索の索引'],
    ['ﬁnd', 'we find it'],
    ['привет', 'ПРИВЕТ, мир'],
  ])('[RPL-4] makes no difference of case, accents and width: %s', (query, body) => {
    write('a', body);
    write('b', 'something else');
    const { hits } = search(query);
    expect(hits.map(({ id }) => id)).toEqual(['a']);
    expect(marked(hits[0]!.snippets[0]!)).toHaveLength(1);
  });

  it('[RPL-4] ranks the name above tags, outcome, headings and body', () => {
    const filler = 'words and more words to fill a line\n'.repeat(5);
    write('in-body', `${filler}zebra\n`);
    write('in-heading', `# The zebra\n${filler}`);
    write('in-outcome', filler, { outcome: 'A zebra was seen' });
    write('in-tags', filler, { tags: ['zebra'] });
    write('in-name', filler, { name: 'The zebra' });
    write('other', filler);
    const ids = idsOf('zebra');
    expect(ids[0]).toBe('in-name');
    expect(ids.slice(-2)).toEqual(['in-heading', 'in-body']);
    expect([...ids].sort()).toEqual(['in-body', 'in-heading', 'in-name', 'in-outcome', 'in-tags']);
  });

  it('[RPL-4] ranks more matches above fewer, whole words above prefixes, and a short body above a long one', () => {
    write('often', 'zebra zebra zebra here');
    write('once', 'a zebra is here and');
    write('begun', 'a zebras is here and');
    write('long', `a zebra ${'is somewhere in here '.repeat(200)}`);
    expect(idsOf('zebra')).toEqual(['often', 'once', 'begun', 'long']);
  });

  it('[RPL-4] shows the matches, with correct offsets in the shown text', () => {
    const body = `${'Nothing of note here.\n'.repeat(40)}Then the Café loader\nbroke 💥 down.\n${'And on.\n'.repeat(40)}Another loader at the end`;
    write('a', body, { name: 'Loader', outcome: 'The loader works' });
    const [hit] = search('loader cafe').hits;
    expect(marked(hit!.name)).toEqual(['Loader']);
    expect(marked(hit!.outcome!)).toEqual(['loader']);
    const [first, second] = hit!.snippets;
    expect(first!.text).toMatch(/^….*Then the Café loader broke 💥 down\..*…$/);
    expect(first!.line).toBe(41);
    expect(marked(first!)).toEqual(['Café', 'loader']);
    expect(marked(second!)).toEqual(['loader']);
    expect(second!.text.endsWith('Another loader at the end')).toBe(true);
  });

  it('[RPL-4] narrows to a tag and to a status, and answers no more than the limit', () => {
    write('a', 'zebra', { tags: ['Animals'], status: 'active' });
    write('b', 'zebra', { tags: ['animals'] });
    write('c', 'zebra');
    expect(idsOf('zebra', { tag: 'animals' }).sort()).toEqual(['a', 'b']);
    expect(idsOf('zebra', { status: 'active' })).toEqual(['a']);
    expect(search('zebra', { limit: 1 })).toMatchObject({ total: 3, hits: [{}] });
  });

  it('[RPL-4] refuses a query without a word', () => {
    write('a', 'zebra');
    for (const query of ['""', '\u0301', ' " " '])
      expect(() => search(query), query).toThrowError(expect.objectContaining({ code: 'invalid_request' }));
  });
});

describe('the cache of a search', () => {
  const read: string[] = [];
  class Counted extends SearchTexts {
    override read(row: Parameters<SearchTexts['read']>[0]) {
      read.push(row.id);
      return super.read(row);
    }
  }
  beforeEach(() => {
    read.length = 0;
    engine = new FiberSearch({ texts: new Counted() });
  });

  it('[RPL-4] is read again only for fibers with a new digest', () => {
    write('a', 'zebra');
    write('b', 'zebra');
    search('zebra');
    write('b', 'a giraffe');
    expect(idsOf('zebra')).toEqual(['a']);
    expect(idsOf('giraffe')).toEqual(['b']);
    expect(read).toEqual(['a', 'b', 'b']);
  });

  it('[RPL-4] evicts removed fibers, and requests a catalogue that it does not have', () => {
    write('a', 'zebra');
    const gone = write('b', 'zebra');
    expect(search('zebra').total).toBe(2);
    rmSync(gone);
    paths.delete(gone);
    expect(idsOf('zebra')).toEqual(['a']);
    expect(engine.search('another', { query: 'zebra', limit: 5 }, null)).toBeNull();
    expect(engine.search(`g${generation}`, { query: 'zebra', limit: 5 }, null)!.total).toBe(1);
  });

  it('[RPL-4] respects its memory limit, and still finds fibers beyond it', () => {
    const texts = new Counted(10_000);
    engine = new FiberSearch({ texts });
    for (const id of ['a', 'b', 'c']) write(id, `zebra ${'x '.repeat(1_500)}`);
    expect(search('zebra').total).toBe(3);
    expect(search('zebra').total).toBe(3);
    expect(texts.bytes).toBeLessThanOrEqual(10_000);
    expect(texts.bytes).toBeGreaterThan(5_000);
    expect(read).toEqual(['a', 'b', 'c', 'b', 'c']);
  });

  it('[RPL-4] reports when it could not read everything in time, and continues with the next search', () => {
    let now = 0;
    engine = new FiberSearch({ texts: new Counted(), now: () => (now += 1_000) });
    for (const id of ['a', 'b', 'c', 'd', 'e']) write(id, 'zebra');
    const first = search('zebra');
    expect(first.complete).toBe(false);
    expect(first.total).toBeLessThan(5);
    expect(search('zebra')).toMatchObject({ total: 5, complete: true });
  });
});
