import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { digestOf } from '../../src/config/operator-change.ts';
import {
  changePathList,
  parsePathList,
  planPathList,
  readProjects,
  readStores,
} from '../../src/config/path-lists.ts';
import { readSettings, type Settings } from '../../src/config/settings.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';

let scratch: ScratchFolder;
let settings: Settings;
beforeEach(() => {
  scratch = scratchFolder();
  settings = readSettings({ SVC_CONFIG_DIR: scratch.path });
});
afterEach(() => scratch.remove());

const LISTS = [
  {
    kind: 'stores',
    clause: 'DSP-7',
    read: readStores,
    variable: 'SVC_STORES',
  },
  {
    kind: 'projects',
    clause: 'DSP-8',
    read: readProjects,
    variable: 'SVC_PROJECTS',
  },
] as const;

describe.each(LISTS)('$kind.json', ({ kind, clause, read, variable }) => {
  const add = (to: Settings, path: string) => changePathList(to, kind, { add: path });
  const write = (to: Settings, paths: string[], expected_digest?: string) =>
    changePathList(to, kind, { paths }, { expected_digest });

  it(`[${clause}] is empty without a file and without the variable`, () => {
    expect(read(settings)).toMatchObject({
      paths: [],
      source: 'none',
      file: join(scratch.path, `${kind}.json`),
    });
  });

  it(`[${clause}] is overridden by the environment variable, even if the file is invalid`, () => {
    scratch.write(`${kind}.json`, 'not json');
    const overridden = readSettings({ SVC_CONFIG_DIR: scratch.path, [variable]: '/a, /b ,/a' });
    expect(read(overridden)).toMatchObject({ paths: ['/a', '/b'], source: 'environment' });
  });

  it.each([
    { form: 'a bare array', content: ['/srv/a', '~/b', '/srv/a/'] },
    { form: 'a versioned object', content: { version: 1, [kind]: ['/srv/a', '~/b', '/srv/a/'] } },
  ])(`[${clause}] is read as $form, with absolute paths and without duplicates`, ({ content }) => {
    scratch.write(`${kind}.json`, content);
    expect(read(settings)).toMatchObject({ paths: ['/srv/a', join(homedir(), 'b')], source: 'file' });
  });

  it.each([
    { content: '{"version": 1,', says: /is not valid JSON/ },
    { content: '{}', says: new RegExp(`not valid at ${kind}:`) },
    { content: '[1]', says: /not valid at 0:/ },
    { content: `{"version": 2, "${kind}": []}`, says: /not valid at version:/ },
    { content: '["notes"]', says: /lists "notes".*absolute path/ },
    { content: '['.repeat(101) + ']'.repeat(101), says: /more than 100 deep/ },
  ])('is refused, and not treated as empty, with the content $content', async ({ content, says }) => {
    const file = scratch.write(`${kind}.json`, content);
    expect(() => read(settings)).toThrow(
      expect.objectContaining({ code: 'invalid_config', message: expect.stringMatching(says) }),
    );
    expect(() => read(settings)).toThrow(file);
    await expect(add(settings, '/srv/new')).rejects.toThrow(file);
    expect(readFileSync(file, 'utf8')).toBe(content);
  });

  it('is refused if it cannot be read as a file', () => {
    scratch.mkdir(`${kind}.json`);
    expect(() => read(settings)).toThrow(expect.objectContaining({ code: 'invalid_config' }));
  });

  it('appends a path, keeps unknown keys, and adds no duplicate', async () => {
    const file = scratch.write(`${kind}.json`, { comment: 'mine', [kind]: ['~/b'] });
    expect(await add(settings, '/srv/new')).toMatchObject({ changed: true, overridden_by: null });
    expect(await add(settings, '/srv/new/')).toMatchObject({ changed: false });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      comment: 'mine',
      [kind]: ['~/b', '/srv/new'],
    });
  });

  it('is made in a private folder and only for its owner', async () => {
    const config_dir = join(scratch.path, 'deep', 'config');
    const fresh = readSettings({ SVC_CONFIG_DIR: config_dir });
    const { file } = await add(fresh, '/srv/a');
    expect(statSync(config_dir).mode & 0o777).toBe(0o700);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(read(fresh).paths).toEqual(['/srv/a']);
  });

  it('is replaced as a whole, keeps its other keys, and is not written if nothing changed', async () => {
    const file = scratch.write(`${kind}.json`, { note: 1, [kind]: ['/srv/a'] });
    expect((await write(settings, ['/srv/a'])).changed).toBe(false);
    expect((await write(settings, ['/srv/b', '/srv/c'])).changed).toBe(true);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      note: 1,
      [kind]: ['/srv/b', '/srv/c'],
    });
  });

  it('names the variable that overrides the written file', async () => {
    const overridden = readSettings({ SVC_CONFIG_DIR: scratch.path, [variable]: '/a' });
    expect((await add(overridden, '/srv/new')).overridden_by).toBe(variable);
    expect(read(overridden).paths).toEqual(['/a']);
  });

  it('refuses to store a relative path', async () => {
    await expect(add(settings, 'notes')).rejects.toThrow(/absolute path/);
    expect(existsSync(join(scratch.path, `${kind}.json`))).toBe(false);
  });

  it('[OPF-6] keeps every byte of the file except the list', async () => {
    const text = `{ "note": 1.0,\n  "${kind}": ["/a"], "big": 12345678901234567890 }\n`;
    const file = scratch.write(`${kind}.json`, text);
    await add(settings, '/b');
    expect(readFileSync(file, 'utf8')).toBe(text.replace('["/a"]', '["/a","/b"]'));
  });

  it('[OPF-6] is removed with its last path', async () => {
    const file = scratch.write(`${kind}.json`, { version: 1, [kind]: ['/srv/a'] });
    expect(await write(settings, [])).toMatchObject({ changed: true, paths: [], digest: digestOf('') });
    expect(existsSync(file)).toBe(false);
    expect(await write(settings, [])).toMatchObject({ changed: false });
  });

  it('[ERR-12] is not replaced by a writer with an outdated digest', async () => {
    const { digest } = await write(settings, ['/srv/a']);
    await add(settings, '/srv/b');
    await expect(write(settings, ['/srv/c'], digest)).rejects.toMatchObject({
      code: 'conflict',
      details: { conflict: true, digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(read(settings).paths).toEqual(['/srv/a', '/srv/b']);
    expect(() => planPathList(settings, kind, { paths: [] }, { expected_digest: digest })).toThrow(
      /read it again/,
    );
  });

  it('[WPL-15] loses no path of concurrent writers', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `/srv/${index}`);
    await Promise.all(names.map((name) => add(settings, name)));
    expect(read(settings).paths.toSorted()).toEqual(names.toSorted());
  });

  it('can be validated as text before it is written', () => {
    expect(parsePathList(kind, '/label.json', '["/a"]')).toEqual(['/a']);
    expect(() => parsePathList(kind, '/label.json', '[')).toThrow('/label.json');
  });
});

describe('an entry of stores.json with options', () => {
  const trusted = { path: '/srv/linked', follow: true, note: 'mine' };
  const write = (content: unknown) => scratch.write('stores.json', content);
  const stored = () => JSON.parse(readFileSync(join(scratch.path, 'stores.json'), 'utf8'));

  it('[DSP-7] names a store, and whether its documents may be links out of it', () => {
    write({ version: 1, stores: ['/srv/a', trusted, { path: '~/b', follow: false }, { path: '/srv/c' }] });
    expect(readStores(settings)).toMatchObject({
      paths: ['/srv/a', '/srv/linked', join(homedir(), 'b'), '/srv/c'],
      followed: ['/srv/linked'],
    });
    write([trusted]);
    expect(readStores(settings)).toMatchObject({ paths: ['/srv/linked'], followed: ['/srv/linked'] });
  });

  it('[DSP-7] gives no permission to a store from the environment', () => {
    write([trusted]);
    const named = readSettings({ SVC_CONFIG_DIR: scratch.path, SVC_STORES: '/srv/linked' });
    expect(readStores(named)).toMatchObject({ paths: ['/srv/linked'], followed: [], source: 'environment' });
  });

  it('[WPL-14] is kept when the list is replaced, and removed with its path', async () => {
    write({ version: 1, note: 1, stores: ['/srv/a', trusted] });
    const replace = (paths: string[]) => changePathList(settings, 'stores', { paths });
    expect(await replace(['/srv/linked', '/srv/b'])).toMatchObject({
      followed: ['/srv/linked'],
      changed: true,
    });
    expect(stored()).toEqual({ version: 1, note: 1, stores: [trusted, '/srv/b'] });
    expect(await changePathList(settings, 'stores', { add: '/srv/linked' })).toMatchObject({
      changed: false,
    });
    await changePathList(settings, 'stores', { add: '/srv/c' });
    expect(stored().stores).toEqual([trusted, '/srv/b', '/srv/c']);
    await replace(['/srv/b']);
    expect(stored().stores).toEqual(['/srv/b']);
  });

  it.each([
    { content: [{ follow: true }], says: /not valid at 0\.path/ },
    { content: { stores: [{ path: '/srv/a', follow: 'yes' }] }, says: /not valid at stores\.0\.follow/ },
    { content: [{ path: 'notes', follow: true }], says: /lists "notes".*absolute path/ },
  ])('is refused with the content $content', ({ content, says }) => {
    write(content);
    expect(() => readStores(settings)).toThrow(
      expect.objectContaining({ code: 'invalid_config', message: expect.stringMatching(says) }),
    );
  });
});

describe('an operator file that is no regular file', () => {
  it.each([
    { what: 'a named pipe', make: (path: string) => execFileSync('mkfifo', [path]) },
    { what: 'a device', make: (path: string) => symlinkSync('/dev/zero', path) },
  ])('is refused with its kind if it is $what', ({ what, make }) => {
    make(join(scratch.path, 'stores.json'));
    expect(() => readStores(settings)).toThrow(
      expect.objectContaining({
        code: 'invalid_config',
        message: expect.stringContaining(`stores.json is ${what}`),
      }),
    );
  });
});
