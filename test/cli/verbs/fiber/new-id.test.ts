import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runVerb } from '../../../fixtures/fibers/run-verb.ts';
import { createTempStore, type TempStore } from '../../../fixtures/fibers/temp-store.ts';

let temp: TempStore;
let original: string;
let copy: string;
beforeEach(async () => {
  temp = createTempStore();
  await svc('fiber', 'add', 'Say hello', '--slug', 'hello');
  original = temp.store.locate('hello')!;
  const folder = join(dirname(dirname(original)), 'hello copy');
  cpSync(dirname(original), folder, { recursive: true });
  copy = join(folder, 'hello copy.md');
  renameSync(join(folder, 'hello.md'), copy);
});
afterEach(() => temp.remove());

const env = () => ({ SVC_STORES: temp.root, SVC_DATA_DIR: join(temp.root, 'data') });
const svc = (...argv: string[]) => runVerb(argv, { cwd: temp.root, env: env() });
const text = (path: string) => readFileSync(path, 'utf8');
const withoutId = (path: string) => text(path).replace(/^id: .*$/m, '');

describe('svc fiber new-id', () => {
  it('[FIB-2] gives a copied document a ULID of its own, and changes no other line', async () => {
    const before = [text(original), text(copy)];
    expect((await svc('fiber', 'check')).code).toBe(1);
    const shown = await svc('fiber', 'new-id', dirname(copy), '--dry-run', '--json');
    expect(JSON.parse(shown.out)).toMatchObject({ documents: [{ path: copy }] });
    expect([text(original), text(copy)]).toEqual(before);
    expect(await svc('fiber', 'new-id', '.fibers/hello copy')).toMatchObject({ code: 0, error: null });
    expect(text(original)).toBe(before[0]);
    expect(text(copy)).not.toBe(before[1]);
    expect(withoutId(copy)).toBe(withoutId(original));
    expect((await svc('fiber', 'check')).code).toBe(0);
    expect(await svc('fiber', 'new-id', copy)).toMatchObject({
      error: 'invalid_request',
      err: expect.stringContaining('no other document has the ULID of'),
    });
  });

  it('[FIB-2] leaves the document alone that a worker was started for, and names the copy', async () => {
    const run = join(temp.root, 'data', 'runs', '01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8A');
    mkdirSync(run, { recursive: true });
    writeFileSync(join(run, 'run.json'), JSON.stringify({ uid: 'x', path: original, state: 'spawned' }));
    writeFileSync(join(run, 'agent.pid'), JSON.stringify({ pid: 1, start_time: '1' }));
    const before = text(original);
    expect(await svc('fiber', 'new-id', original)).toMatchObject({
      error: 'worker_exists',
      err: expect.stringContaining(copy),
    });
    expect(text(original)).toBe(before);
    expect(await svc('fiber', 'new-id', copy)).toMatchObject({ code: 0 });
  });
});
