import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Logger } from '../../../src/base/logger.ts';
import { StateFile } from '../../../src/dispatch/holds/state-file.ts';

let folder: string;
let logged: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-state-file-'));
  logged = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the file of a book', () => {
  it('is read as it was written, by its owner alone', () => {
    expect(file('counts').write({ version: 1, counts: [3] })).toBeNull();
    expect(file('counts').read()).toEqual({ version: 1, counts: [3] });
    expect(statSync(join(folder, 'counts')).mode & 0o777).toBe(0o600);
    expect(logged).toEqual([]);
  });

  it('holds nothing before the first write, which is no fault', () => {
    expect(file('counts').read()).toBeNull();
    expect(logged).toEqual([]);
  });

  it.each(['', '{', '{"version":2,"counts":[]}', '{"version":1}'])(
    'holds nothing as %j, which is logged',
    (text) => {
      writeFileSync(join(folder, 'counts'), text);
      expect(file('counts').read()).toBeNull();
      expect(logged).toEqual(['the counts cannot be read; they begin anew']);
      expect(readFileSync(join(folder, 'counts'), 'utf8')).toBe(text);
    },
  );

  it('answers and logs the error of a write that failed', () => {
    mkdirSync(join(folder, 'counts'));
    expect(file('counts').write({ version: 1, counts: [] })).toMatchObject({ error: { code: 'EISDIR' } });
    expect(logged).toEqual(['the counts cannot be written']);
  });
});

function file(name: string) {
  const note = (_: unknown, message: string) => logged.push(message);
  return new StateFile({
    path: join(folder, name),
    schema: z.object({ version: z.literal(1), counts: z.array(z.number()) }),
    logger: { warn: note, error: note } as unknown as Logger,
    ...{ what: 'the counts', instead: 'they begin anew' },
  });
}
