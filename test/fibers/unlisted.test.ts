import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unlistedDocuments } from '../../src/fibers/unlisted.ts';
import { createTempStore, type TempStore } from '../fixtures/fibers/temp-store.ts';

let temp: TempStore;
beforeEach(() => {
  temp = createTempStore();
});
afterEach(() => temp.remove());

const [NFC, NFD] = ['größe', 'größe'.normalize('NFD')];
const at = (path: string) => join(temp.root, '.fibers', path);
/** Runs the commands that a problem names, as a person would paste them. */
const mend = (message: string) => execFileSync('sh', ['-c', message.slice(message.indexOf('run: ') + 5)]);

describe('a folder whose document has another name', () => {
  it.each([
    [
      'was renamed',
      () => renameSync(at('a'), at('b')),
      'b',
      'b',
      /its document has to be named b.md, and is a.md/,
    ],
    [
      'was renamed, with a quote and a space, below another fiber',
      () => {
        mkdirSync(at('work'));
        renameSync(at('a'), at("work/a's copy"));
      },
      "work/a's copy",
      "work/a's copy",
      /has to be named a's copy.md/,
    ],
    [
      'has its name in another form of Unicode',
      () => {
        renameSync(at('a/a.md'), at(`a/${NFC}.md`));
        renameSync(at('a'), at(NFD));
      },
      NFD,
      NFC,
      /two forms of Unicode/,
    ],
    [
      'has a document in another form of Unicode',
      () => {
        renameSync(at('a/a.md'), at(`a/${NFD}.md`));
        renameSync(at('a'), at(NFC));
      },
      NFC,
      NFC,
      /two forms of Unicode/,
    ],
  ])('that %s is named with the command that mends it', async (_how, move, folder, id, says) => {
    const { uid } = await temp.store.create({ name: 'a' });
    move();
    expect(temp.store.list().documents).toEqual([]);
    const problems = unlistedDocuments(temp.store);
    expect(problems).toEqual([{ path: at(folder), message: expect.stringMatching(says) }]);
    mend(problems[0]!.message);
    expect(unlistedDocuments(temp.store)).toEqual([]);
    expect(temp.store.list().documents).toMatchObject([{ id, uid }]);
  });

  it('that has several is named without a command', async () => {
    for (const name of ['a', 'c']) {
      await temp.store.create({ name });
      mkdirSync(at('b'), { recursive: true });
      renameSync(at(`${name}/${name}.md`), at(`b/${name}.md`));
    }
    expect(unlistedDocuments(temp.store)).toEqual([
      {
        path: at('b'),
        message: expect.stringMatching(/there are a.md, c.md; give each a folder of its name$/),
      },
    ]);
  });

  it('is none that holds other files, notes, links or other fibers', async () => {
    await temp.store.create({ name: 'a', parent: undefined });
    const write = (path: string, text: string) => {
      mkdirSync(join(at(path), '..'), { recursive: true });
      writeFileSync(at(path), text);
    };
    for (const name of ['.DS_Store', '._a.md', 'Thumbs.db', 'a.md~', 'notes.md']) write(`a/${name}`, 'x');
    write('group/.DS_Store', 'x');
    write('group/._group.md', 'x');
    write('group/README.md', '# What this group is for\n');
    write('group/b/b.md', 'no frontmatter');
    write('.trash/z/y.md', '---\nid: 01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z\n---\n');
    mkdirSync(at('linked'));
    symlinkSync(at('a/a.md'), at('linked/other.md'));
    expect(unlistedDocuments(temp.store)).toEqual([]);
  });
});
