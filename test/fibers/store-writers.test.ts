import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createTempStore, type TempStore } from '../fixtures/fibers/temp-store.ts';

const FIXTURES = new URL('../fixtures/fibers/', import.meta.url).pathname;
const children: ChildProcess[] = [];
let temp: TempStore;

function start(fixture: string, ...args: string[]): ChildProcess {
  const child = spawn(process.execPath, ['--no-warnings', join(FIXTURES, fixture), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
}

afterEach(async () => {
  const ends = children.splice(0).map(async (child) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  await Promise.all(ends);
  temp.remove();
});

describe('writers in other processes', () => {
  it('leave a complete document when they are killed at any moment, 50 times', {
    timeout: 120_000,
  }, async () => {
    temp = createTempStore();
    const lanes = ['one', 'two', 'three', 'four', 'five'];
    const length = 300_000;
    for (const name of lanes) await temp.store.create({ name, body: 'a'.repeat(length) });
    const requireWhole = (id: string): void => {
      const document = temp.store.read(id);
      expect(document.error).toBeUndefined();
      expect(document.name).toBe(id);
      expect(document.body.length).toBe(length + 1);
      expect(document.body).toBe(`${document.body[0]!.repeat(length)}\n`);
    };
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(
        lanes.map(async (id) => {
          const child = start('edit-loop.ts', temp.root, id, String(length));
          await once(child.stdout!, 'data');
          requireWhole(id);
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 25));
          child.kill('SIGKILL');
          await once(child, 'exit');
          requireWhole(id);
        }),
      );
    }
    expect(
      temp.store
        .list()
        .documents.map((row) => row.id)
        .sort(),
    ).toEqual([...lanes].sort());
    for (const id of lanes) {
      await temp.store.edit(id, { set: { outcome: 'after the crashes' } });
      expect(readdirSync(join(temp.root, '.fibers', id))).toEqual([`${id}.md`]);
    }
  });

  it('lose no tag when 8 of them edit one fiber at once', { timeout: 120_000 }, async () => {
    temp = createTempStore();
    await temp.store.create({ name: 'shared', tags: ['first'] });
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const path = join(temp.root, '.fibers/shared/shared.md');
    const writers = names.map((name) => start('tag-writer.ts', temp.root, 'shared', name, '12'));
    let done = false;
    const ends = Promise.all(writers.map((child) => once(child, 'exit'))).finally(() => {
      done = true;
    });
    while (!done) {
      expect(readFileSync(path, 'utf8').endsWith('---\n')).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect((await ends).map(([code]) => code)).toEqual(names.map(() => 0));
    const expected = names.flatMap((name) => Array.from({ length: 12 }, (_, number) => `${name}-${number}`));
    expect([...temp.store.read('shared').tags].sort()).toEqual(['first', ...expected].sort());
    expect(readdirSync(join(temp.root, '.fibers/shared'))).toEqual(['shared.md']);
  });
});
