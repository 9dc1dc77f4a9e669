import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseRow } from '../../src/fibers/document.ts';
import { encodeCatalogue } from '../../src/fibers/search/catalogue.ts';
import { withBulk } from '../../src/threads/bulk.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
let scratch: ScratchFolder;
let generation = 'first';
beforeEach(async () => {
  served = await serveRoutes();
  scratch = scratchFolder();
  generation = scratch.path;
  served.callers.poller.answers.catalogue = ({ known }: { known: string | null }) => ({
    value: { catalogue: generation },
    bulk: known === generation ? null : catalogue(),
  });
});
afterEach(async () => {
  await served.stop();
  scratch.remove();
});

const ids = ['a', 'b', 'c'];
function catalogue(): Uint8Array {
  const rows = ids.map((id) => {
    const path = join(scratch.path, '.fibers', id, `${id}.md`);
    return parseRow(readFileSync(path), { store: scratch.path, path, relativePath: `${id}/${id}.md` });
  });
  return withBulk({}, encodeCatalogue(rows)).bytes;
}
const write = (id: string, body: string, front = '') =>
  scratch.write(`.fibers/${id}/${id}.md`, `---\nname: ${id}\nstatus: open\n${front}---\n${body}`);

describe('GET /search', () => {
  beforeEach(() => {
    write('a', 'The loader reads fonts.\n', 'tags: [methods]\n');
    write('b', 'The loader writes.\n');
    write('c', 'Fonts only.\n');
  });
  const search = async (query: string) => served.get(`/api/v1/search?${query}`);

  it('[RPL-4] returns the fibers whose bodies match, with the matches', async () => {
    const { status, json } = await search('query=loader+fonts');
    expect(status).toBe(200);
    expect(json).toMatchObject({ query: 'loader fonts', total: 1, complete: true });
    const [hit] = json.hits as { id: string; snippets: { text: string; matches: [number, number][] }[] }[];
    expect(hit!.id).toBe('a');
    const { text, matches } = hit!.snippets[0]!;
    expect(matches.map(([start, end]) => text.slice(start, end))).toEqual(['loader', 'fonts']);
  });

  it('[RPL-4] sends the catalogue to the pool only if it changed, or if the thread does not have it', async () => {
    for (let asked = 0; asked < 3; asked += 1) expect((await search('query=loader')).json.total).toBe(2);
    const known = served.callers.poller.asked.map(({ input }) => (input as { known: string | null }).known);
    expect(known).toEqual([null, generation, generation]);
    // Another daemon's catalogue is what this thread has by now.
    const other = await serveRoutes();
    other.callers.poller.answers.catalogue = () => ({ value: { catalogue: 'other' }, bulk: catalogue() });
    await other.get('/api/v1/search?query=loader');
    await other.stop();
    expect((await search('query=loader')).json.total).toBe(2);
    expect(
      served.callers.poller.asked.map(({ input }) => (input as { known: unknown }).known).slice(3),
    ).toEqual([generation, null]);
  });

  it('[RPL-4] narrows to a tag and a status and accepts a limit', async () => {
    expect((await search('query=loader&tag=methods')).json.total).toBe(1);
    expect((await search('query=loader&status=active')).json.total).toBe(0);
    const limited = await search('query=loader&limit=1');
    expect(limited.json).toMatchObject({ total: 2, hits: [{}] });
    expect(limited.json.hits).toHaveLength(1);
  });

  it('[RPL-4] refuses an empty query and invalid values', async () => {
    for (const query of [
      '',
      'query=',
      'query=+',
      'query=%22%22',
      'query=a&limit=0',
      'query=a&limit=101',
      'query=a&limit=x',
      'query=a&status=done',
    ])
      expect(await search(query), query).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
  });
});
