import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fileCallsIn } from '../kit/file-calls.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Functions that open a file or read one whole. */
const READS = new Set([
  'createReadStream',
  'open',
  'openAsBlob',
  'openSync',
  'read',
  'readFile',
  'readFileSync',
  'readSync',
  'readv',
  'readvSync',
]);
/** `src/platform` is where the bounded reader lies, and where the kernel’s own files are read. */
const FREE = /^src\/platform\//;
/** Who may open files elsewhere, and which, each with the reason. */
const NAMED: Readonly<Record<string, { uses: readonly string[]; reason: string }>> = {
  'src/cli/hook/read-file.cjs': {
    uses: ['open', 'read'],
    reason: 'the bounded reader of hooks, which cannot afford to load the other one',
  },
  'src/cli/hook/read-input.cjs': { uses: ['read'], reason: 'reads stdin by its descriptor, within a limit' },
  'src/cli/hook/agent-process.cjs': { uses: ['readFile'], reason: 'reads the kernel’s facts of a process' },
  'src/cli/hook/take-context.cjs': { uses: ['open'], reason: 'opens a folder to sync it' },
  'src/ledgers/append-line.ts': {
    uses: ['openSync', 'readSync'],
    reason: 'a writer: opens a ledger without waiting, requires a regular file and looks at its last byte',
  },
  'src/fibers/attachments/store-attachments.ts': {
    uses: ['openSync'],
    reason: 'a writer: makes new files only',
  },
  'src/mux/tmux-client.ts': { uses: ['readFileSync'], reason: 'reads the kernel’s table of sockets' },
  'src/threads/thread-work.ts': { uses: ['readFileSync'], reason: 'reads the kernel’s facts of a thread' },
  'src/threads/fault-injection.ts': { uses: ['openSync'], reason: 'gets stuck on purpose, in tests alone' },
};

function sources(): string[] {
  return ['src', 'workers'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|cjs|mjs)$/.test(name) && !name.endsWith('.d.ts'))
      .map((name) => `${folder}/${name}`),
  );
}

const readsOf = (text: string) => fileCallsIn(text, READS);

const WHAT_TO_DO =
  'read it by src/platform/regular-file.ts (openRegularFile, readRegularFile and their Sync forms), which never waits and reads no more than a limit';

describe('every file that users or agents may have written', () => {
  it('is opened and read only by the bounded reader', () => {
    const files = sources();
    expect(files.length).toBeGreaterThan(300);
    for (const file of files.filter((one) => !FREE.test(one)))
      expect(readsOf(readFileSync(join(ROOT, file), 'utf8')), `${file}: ${WHAT_TO_DO}`).toEqual(
        [...(NAMED[file]?.uses ?? [])].sort(),
      );
  });

  it('is found by this rule however the functions are imported', () => {
    expect(readsOf(`import { readFileSync as r, statSync } from 'node:fs'; r('x')`)).toEqual([
      'readFileSync',
    ]);
    expect(readsOf(`import * as fs from 'fs'; fs.promises.readFile('x')`)).toEqual(['readFile']);
    expect(readsOf(`import fs from 'node:fs/promises'; fs.open('x')`)).toEqual(['open']);
    expect(readsOf(`import { promises } from 'node:fs'; promises.readFile('x')`)).toEqual(['readFile']);
    expect(readsOf(`const { openSync: o } = require('node:fs')`)).toEqual(['openSync']);
    expect(readsOf(`const fs = require('fs'); fs.createReadStream('x')`)).toEqual(['createReadStream']);
    expect(readsOf(`const { readFile } = await import('node:fs/promises')`)).toEqual(['readFile']);
    expect(readsOf(`require('node:fs').readFileSync('x')`)).toEqual(['readFileSync']);
    expect(readsOf(`import type { FileHandle } from 'node:fs/promises'; file.read()`)).toEqual([]);
  });

  it('has exceptions that exist, each with its reason', () => {
    for (const [file, { reason }] of Object.entries(NAMED)) {
      expect(sources()).toContain(file);
      expect(reason.length, file).toBeGreaterThan(15);
    }
  });
});
