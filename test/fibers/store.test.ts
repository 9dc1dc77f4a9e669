import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkListings } from '../../src/fibers/check.ts';
import { isUlid } from '../../src/fibers/fiber-id.ts';
import { findFiber } from '../../src/fibers/find-fiber.ts';
import { initStore, openStore } from '../../src/fibers/store.ts';
import { tryFileLock } from '../../src/platform/file-lock.ts';
import { createTempStore, type TempStore } from '../fixtures/fibers/temp-store.ts';

let temp: TempStore;
beforeEach(() => {
  temp = createTempStore();
});
afterEach(() => temp.remove());

describe('Store', () => {
  it('refuses a named pipe at the path of a document at once', async () => {
    const path = join(temp.root, '.fibers', 'pipe', 'pipe.md');
    mkdirSync(dirname(path), { recursive: true });
    execFileSync('mkfifo', [path]);
    expect(() => temp.store.readPath(path)).toThrow('is a named pipe, not a regular file');
    await expect(temp.store.edit('pipe', { set: { outcome: 'x' }, unset: [] })).rejects.toMatchObject({
      code: 'fiber_not_found',
    });
  });

  it('distinguishes a broken link from a missing document', () => {
    const folder = join(temp.root, '.fibers', 'link');
    mkdirSync(folder);
    symlinkSync('/does/not/exist', join(folder, 'link.md'));
    const read = (name: string) => () => openStore(temp.root).readPath(join(folder, name));
    expect(read('link.md')).toThrow(expect.objectContaining({ code: 'store_unavailable' }));
    const message = 'no fiber "link"; "svc fiber ls" lists them';
    expect(read('other.md')).toThrow(expect.objectContaining({ code: 'fiber_not_found', message }));
  });

  it('refuses a document over the size limit without reading it', () => {
    const path = join(temp.root, '.fibers', 'huge', 'huge.md');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '');
    truncateSync(path, 3 * 1024 ** 3);
    expect(() => temp.store.readPath(path)).toThrow('at most');
  });

  it('refuses a write that it could not read back: the document is unchanged and accepts later edits', async () => {
    await temp.store.create({ name: 'A', slug: 'a' });
    const before = temp.store.read('a').digest;
    const tags = Array.from({ length: 30_000 }, (_, nth) => `t${nth}`);
    await expect(temp.store.edit('a', { set: { outcome: 'x'.repeat(300_000) } })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('outcome'),
    });
    await expect(temp.store.edit('a', { set: { tags } })).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(temp.store.create({ name: 'B', slug: 'b', tags })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect(temp.store.read('a').digest).toBe(before);
    expect(temp.store.locate('b')).toBeNull();
    expect(await temp.store.edit('a', { set: { outcome: 'fine' } })).toMatchObject({ outcome: 'fine' });
    expect((await temp.store.edit('a', { unset: ['outcome'] })).outcome).toBeUndefined();
  });

  it('[FIB-1] [FIB-2] [FIB-3] creates a new fiber under its parent with a new ULID', async () => {
    await temp.store.create({ name: 'Work' });
    const fiber = await temp.store.create({
      name: 'Éclair & the Loader!',
      parent: 'work',
      tags: ['a'],
      body: 'Do it',
    });
    expect(fiber).toMatchObject({
      id: 'work/eclair-the-loader',
      leaf: 'eclair-the-loader',
      name: 'Éclair & the Loader!',
      status: 'open',
      tags: ['a'],
      body: 'Do it\n',
      path: join(temp.root, '.fibers/work/eclair-the-loader/eclair-the-loader.md'),
    });
    expect(isUlid(fiber.uid!)).toBe(true);
    expect(fiber.created_at).toBe(fiber.updated_at);
  });

  it('refuses a taken name and suggests a free slug', async () => {
    await temp.store.create({ name: 'A' });
    await temp.store.create({ name: 'A', slug: 'a-2' });
    await expect(temp.store.create({ name: 'A' })).rejects.toMatchObject({
      code: 'already_exists',
      details: { suggestion: 'a-3' },
    });
    temp.write('entry.md', '---\nname: Entry\n---\n');
    await expect(temp.store.create({ name: 'entry' })).rejects.toMatchObject({ code: 'already_exists' });
  });

  it('[FIB-1] [RPL-3] refuses the name of the feed of all hosts at the top level, and suggests another', async () => {
    for (const fiber of [{ name: 'Composite' }, { name: 'A', slug: 'composite' }])
      await expect(temp.store.create(fiber)).rejects.toMatchObject({
        code: 'already_exists',
        details: { suggestion: 'composite-2' },
      });
    await temp.store.create({ name: 'A' });
    expect((await temp.store.create({ name: 'Composite', parent: 'a' })).id).toBe('a/composite');
  });

  it.each(['../x', '/etc/passwd', 'a/../../x', '.git', 'a//b', 'a\\b', 'a\nb', '', 'x'.repeat(300)])(
    'refuses %j as an id, slug or parent',
    async (id) => {
      await expect(temp.store.edit(id, { set: { name: 'x' } })).rejects.toMatchObject({
        code: 'invalid_request',
      });
      await expect(temp.store.create({ name: 'x', slug: id })).rejects.toMatchObject({
        code: 'invalid_request',
      });
      await expect(temp.store.create({ name: 'x', parent: id })).rejects.toMatchObject({
        code: 'invalid_request',
      });
      await expect(temp.store.remove(id, { recursive: true })).rejects.toMatchObject({
        code: 'invalid_request',
      });
    },
  );

  it('does not follow a symlinked folder out of the store', async () => {
    const other = createTempStore();
    try {
      await other.store.create({ name: 'secret' });
      symlinkSync(join(other.root, '.fibers/secret'), join(temp.root, '.fibers/secret'));
      await expect(temp.store.edit('secret', { set: { name: 'x' } })).rejects.toMatchObject({
        code: 'fiber_not_found',
      });
      await expect(temp.store.create({ name: 'secret' })).rejects.toMatchObject({ code: 'invalid_request' });
      expect(other.store.read('secret').name).toBe('secret');
    } finally {
      other.remove();
    }
  });

  it('refuses an edit of a document that changed since it was read, with its digest', async () => {
    const first = await temp.store.create({ name: 'A' });
    const second = await temp.store.edit('a', { set: { outcome: 'one' } }, first.digest);
    await expect(temp.store.edit('a', { set: { outcome: 'two' } }, first.digest)).rejects.toMatchObject({
      code: 'conflict',
      details: { conflict: true, digest: second.digest },
    });
    expect(temp.store.read('a').outcome).toBe('one');
  });

  it('retries the plan when an editor without the lock writes in between', async () => {
    const { path } = await temp.store.create({ name: 'A' });
    let plans = 0;
    const fiber = await temp.store.update('a', (document) => {
      plans += 1;
      if (plans === 1) writeFileSync(path, readFileSync(path, 'utf8').replace('name: A', 'name: Edited'));
      return { set: { outcome: `for ${document.name}` } };
    });
    expect(fiber).toMatchObject({ name: 'Edited', outcome: 'for Edited' });
    expect(plans).toBe(2);
  });

  it('never overwrites a malformed document', async () => {
    const path = temp.write('bad/bad.md', '---\nname: [\n---\nkept\n');
    await expect(temp.store.edit('bad', { set: { name: 'x' } })).rejects.toMatchObject({
      code: 'invalid_document',
    });
    temp.write('bytes/bytes.md', Buffer.from([45, 45, 45, 10, 45, 45, 45, 10, 0xff, 10]));
    await expect(temp.store.edit('bytes', { set: { name: 'x' } })).rejects.toMatchObject({
      code: 'invalid_document',
    });
    expect(readFileSync(path, 'utf8')).toBe('---\nname: [\n---\nkept\n');
  });

  it('refuses a document that would be too large to read back', async () => {
    await temp.store.create({ name: 'a' });
    const body = 'x'.repeat(16 * 1024 * 1024);
    await expect(temp.store.edit('a', { body })).rejects.toMatchObject({ code: 'body_too_large' });
    await expect(temp.store.create({ name: 'b', body })).rejects.toMatchObject({ code: 'body_too_large' });
    expect(temp.store.list().documents).toHaveLength(1);
  });

  it('keeps the mode of the file, and follows a symlinked document instead of replacing the link', async () => {
    const target = join(temp.root, 'elsewhere.md');
    writeFileSync(target, '---\nname: Linked\n---\n');
    chmodSync(target, 0o640);
    mkdirSync(join(temp.root, '.fibers/linked'));
    symlinkSync(target, join(temp.root, '.fibers/linked/linked.md'));
    await temp.store.edit('linked', { set: { outcome: 'x' } });
    expect(readFileSync(target, 'utf8')).toContain('outcome: x');
    expect(statSync(target).mode & 0o777).toBe(0o640);
    expect(readdirSync(temp.root).sort()).toEqual(['.fibers', 'elsewhere.md']);
  });

  it('waits for a live writer until the timeout, and names it', async () => {
    await temp.store.create({ name: 'A' });
    const lock = tryFileLock(join(temp.root, '.fibers/a/.a.md.lock'))!;
    const store = openStore(temp.root, { lockTimeoutMs: 30 });
    await expect(store.edit('a', { set: { outcome: 'x' } })).rejects.toMatchObject({
      code: 'locked',
      message: expect.stringContaining(`process ${process.pid}`),
    });
    lock.release();
    await store.edit('a', { set: { outcome: 'x' } });
  });

  it('takes over the lock of the previous generation of its owner', async () => {
    await temp.store.create({ name: 'A' });
    expect(
      tryFileLock(join(temp.root, '.fibers/a/.a.md.lock'), { name: 'poller', generation: 1 }),
    ).not.toBeNull();
    const options = { lockTimeoutMs: 30 };
    const same = openStore(temp.root, { ...options, owner: { name: 'poller', generation: 1 } });
    await expect(same.edit('a', { set: { outcome: 'x' } })).rejects.toMatchObject({ code: 'locked' });
    const next = openStore(temp.root, { ...options, owner: { name: 'poller', generation: 2 } });
    expect(await next.edit('a', { set: { outcome: 'x' } })).toMatchObject({ outcome: 'x' });
  });

  it('removes a single document with its empty folders, and more only if requested', async () => {
    await temp.store.create({ name: 'a' });
    await temp.store.create({ name: 'b', parent: 'a' });
    await temp.store.create({ name: 'c', parent: 'a/b' });
    await expect(temp.store.remove('a/b')).rejects.toMatchObject({ code: 'conflict' });
    temp.write('a/b/c/notes.txt', 'mine');
    await expect(temp.store.remove('a/b/c')).rejects.toThrow('notes.txt');
    await temp.store.remove('a/b', { recursive: true });
    expect(existsSync(join(temp.root, '.fibers/a/b'))).toBe(false);
    await temp.store.remove('a');
    expect(readdirSync(join(temp.root, '.fibers'))).toEqual([]);
    await expect(temp.store.remove('a')).rejects.toMatchObject({ code: 'fiber_not_found' });
  });

  it('takes a name and tags of one line of text, and says which character it does not take', async () => {
    await expect(temp.store.create({ name: 'a\u202eb' })).rejects.toMatchObject({
      code: 'invalid_request',
      message: '"name" has the character U+202E, which is not shown as text; leave it out',
    });
    expect(temp.store.list().documents).toEqual([]);
    await temp.store.create({ name: 'good' });
    for (const set of [{ name: 'a\nb' }, { tags: ['a', 'b\u2028c'] }])
      await expect(temp.store.edit('good', { set, unset: [] })).rejects.toMatchObject({
        code: 'invalid_request',
      });
    await temp.store.edit('good', { set: { outcome: 'two\nlines' }, unset: [] });
    // What a document says already is no reason to refuse it.
    temp.write('odd/odd.md', '---\nid: 01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z\nname: "a\\u202eb"\n---\n');
    await temp.store.edit('odd', { set: { outcome: 'x' }, unset: [] });
    expect(temp.store.read('odd')).toMatchObject({ name: 'a\u202eb', outcome: 'x' });
  });

  it('checks a store and lists every invalid document', async () => {
    await temp.store.create({ name: 'good' });
    temp.write('bad/bad.md', '---\nstatus: done\n---\n');
    temp.write('plain/plain.md', 'no frontmatter');
    temp.write('good.md', '---\nid: 01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z\n---\n');
    temp.write('twin/twin.md', '---\nid: 01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z\nsvc: {kind: standing}\n---\n');
    temp.write('back\\slash.md', '---\nid: 01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z90\n---\n');
    const said = checkListings([temp.store.list()]).map(
      ({ path, message }) => `${path.slice(temp.root.length + 9)}: ${message}`,
    );
    expect(said).toEqual([
      expect.stringMatching(
        /^back.slash.md: "back.slash" cannot be the id .* rename its folder or file there$/,
      ),
      expect.stringMatching(/^bad\/bad.md: line 2: "status" takes one of open, active, closed$/),
      expect.stringMatching(/^good.md: the uid .*twin/),
      expect.stringMatching(/^good.md: the id good .*good\/good.md/),
      expect.stringMatching(/^good\/good.md: the id good/),
      expect.stringMatching(/^plain\/plain.md: it has no ULID/),
      expect.stringMatching(/^twin\/twin.md: a standing role needs/),
      expect.stringMatching(/^twin\/twin.md: the uid/),
    ]);
    expect(() => temp.store.read('good')).toThrow('claimed by');
  });

  it('[DSP-9] checks several stores for a uid that two of them have, and for no id', async () => {
    const other = createTempStore();
    try {
      const { uid } = await temp.store.create({ name: 'a' });
      await other.store.create({ name: 'a' });
      const copy = other.write('copy/copy.md', `---\nid: ${uid?.toLowerCase()}\n---\n`);
      const problems = checkListings([temp.store.list(), other.store.list()]);
      expect(new Map(problems.map(({ path, message }) => [path, message]))).toEqual(
        new Map([
          [join(temp.root, '.fibers/a/a.md'), `the uid ${uid} is also that of ${copy}`],
          [copy, `the uid ${uid} is also that of ${join(temp.root, '.fibers/a/a.md')}`],
        ]),
      );
    } finally {
      other.remove();
    }
  });
});

describe('findFiber', () => {
  it('finds by canonical id, by uid in any case, and by a leaf that only one fiber has', async () => {
    await temp.store.create({ name: 'a' });
    const fiber = await temp.store.create({ name: 'b', parent: 'a' });
    for (const reference of ['a/b', fiber.uid!, fiber.uid!.toLowerCase(), 'b']) {
      expect(findFiber([temp.store], reference).id).toBe('a/b');
    }
    await temp.store.create({ name: 'c' });
    await temp.store.create({ name: 'b', parent: 'c' });
    expect(() => findFiber([temp.store], 'b')).toThrow('a/b or c/b');
    expect(() => findFiber([temp.store], 'nothing')).toThrow('no fiber is called nothing');
  });

  it('[FIB-1] refuses a canonical id that two stores have, and names both', async () => {
    const other = createTempStore();
    try {
      await temp.store.create({ name: 'a' });
      await other.store.create({ name: 'a' });
      const find = () => findFiber([temp.store, other.store], 'a');
      const path = (root: string) => join(root, '.fibers/a/a.md');
      expect(find).toThrow(`a names ${path(temp.root)} and ${path(other.root)}; give the uid`);
    } finally {
      other.remove();
    }
  });

  it('reports an unreadable store instead of a missing fiber', async () => {
    const other = createTempStore();
    other.remove();
    expect(() => findFiber([temp.store, other.store], 'x')).toThrow(
      expect.objectContaining({ code: 'store_unavailable' }),
    );
  });
});

describe('initStore', () => {
  it('makes a store twice without a change, and refuses a file', async () => {
    await temp.store.create({ name: 'a' });
    expect(initStore(temp.root).list().documents).toHaveLength(1);
    const file = temp.write('x.txt', '');
    expect(() => initStore(file)).toThrow('not a directory');
    expect(() => openStore(join(temp.root, '.fibers'))).toThrow('svc fiber init');
  });
});
