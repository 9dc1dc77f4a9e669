import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WORKER_URLS } from '../../src/threads/worker-urls.ts';

describe('the list of worker URLs', () => {
  it('names every file of workers/ and no other, each under its component', () => {
    const files = readdirSync(new URL('../../workers', import.meta.url)).sort();
    expect(
      Object.values(WORKER_URLS)
        .map((url) => basename(url.pathname))
        .sort(),
    ).toEqual(files);
    for (const [name, url] of Object.entries(WORKER_URLS)) expect(basename(url.pathname)).toBe(`${name}.ts`);
  });
});
