import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { validateByCli } from '../../src/config/cli-validator.ts';
import { digestOf } from '../../src/config/operator-change.ts';
import { OperatorFiles } from '../../src/config/operator-files.ts';
import { OPERATOR_FILES } from '../../src/config/paths.ts';
import { readSettings } from '../../src/config/settings.ts';
import type { OperatorFileId } from '../../src/contract/operator-files.ts';
import { parseRegistry } from '../../src/harness/agents/registry.ts';
import { createRunner } from '../../src/platform/process.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';

const OWN_CLI = fileURLToPath(new URL('../../src/cli/launcher.mjs', import.meta.url));

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

async function write(to: OperatorFiles, id: OperatorFileId, text: string, digest?: string) {
  return to.write(await to.plan(id, text, digest), digest);
}

function files(env: NodeJS.ProcessEnv = {}, cli: string | null = null, timeout_ms = 20_000): OperatorFiles {
  const settings = readSettings({ SVC_CONFIG_DIR: scratch.path, ...env });
  const runner = createRunner();
  return new OperatorFiles({
    settings,
    checkAgents: parseRegistry,
    validateByCli:
      cli === null
        ? null
        : (id, file, text) =>
            validateByCli({ file: cli, env: { ...process.env, ...env }, runner, timeout_ms }, id, file, text),
  });
}

function program(script: string): string {
  const file = scratch.write('cli.sh', `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

const GOOD: Record<OperatorFileId, string> = {
  stores: '["/srv/notes"]',
  projects: '{"version": 1, "projects": ["~/dev"], "mine": true}\n',
  agents: '{ "agents": [{"id": "mine", "harness": "claude", "args": [] , "unknown": 1.50}] }\n',
  remotes: '{"remotes": [{"name": "host-b", "port": 4001, "auth": "pubkey", "odd": [1]}]}',
  host: '{"host": "host-z", "later": {"a": null}}',
};
const BAD: Record<OperatorFileId, [text: string, says: RegExp]> = {
  stores: ['["notes"]', /lists "notes".*absolute path/],
  projects: ['{"projects": "/a"}', /not valid at projects/],
  agents: ['{"agents": [{"id": "a", "harness": "emacs"}]}', /not valid at agents\.0\.harness/],
  remotes: ['{"remotes": [{"name": "b"}]}', /"b" names neither a port nor a url/],
  host: ['{"host": "no spaces please"}', /a host id takes letters/],
};
const IDS = Object.keys(GOOD) as OperatorFileId[];

describe('[RPL-8] the operator files as text', () => {
  it('[OPF-1] [REC-2] are five, each with its path, size, time, and the variable that overrides it', () => {
    scratch.write('stores.json', GOOD.stores);
    const listed = files({ SVC_STORES: '/elsewhere', SVC_AGENTS_FILE: '/etc/agents.json' }).list();
    expect(listed.map((entry) => entry.id)).toEqual(IDS);
    expect(listed[0]).toMatchObject({
      path: join(scratch.path, 'stores.json'),
      exists: true,
      size: GOOD.stores.length,
      mtime: expect.any(Number),
      overridden_by: 'SVC_STORES',
    });
    expect(listed[2]).toMatchObject({
      path: '/etc/agents.json',
      exists: false,
      size: null,
      mtime: null,
      path_from: 'SVC_AGENTS_FILE',
    });
  });

  it.each(IDS)('[OPF-1] [OPF-6] [REC-3] %s is read as it was written, byte for byte', async (id) => {
    const { before, file } = await write(files(), id, GOOD[id]);
    expect([before, readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([
      null,
      GOOD[id],
      0o600,
    ]);
    const read = files().read(id);
    expect(read).toMatchObject({ text: GOOD[id], digest: digestOf(GOOD[id]), problem: null, exists: true });
    expect(read.entries === null).toBe(id !== 'stores' && id !== 'projects');
  });

  it.each(IDS)(
    '[ERR-4] [OPF-5] %s is refused with the message of the validator if it is invalid',
    async (id) => {
      const [text, says] = BAD[id];
      await write(files(), id, GOOD[id]);
      await expect(write(files(), id, text)).rejects.toMatchObject({
        code: 'validator_refused',
        message: expect.stringMatching(says),
      });
      expect(files().read(id).text).toBe(GOOD[id]);
    },
  );

  it('[OPF-6] an empty text removes the file; if that is a link, only the link', async () => {
    const file = scratch.write('kept-elsewhere.json', GOOD.stores);
    symlinkSync(file, join(scratch.path, 'stores.json'));
    expect(await write(files(), 'stores', ' \n')).toMatchObject({ after: null, before: GOOD.stores });
    expect(files().read('stores')).toMatchObject({ exists: false, text: '', digest: digestOf('') });
    expect(readFileSync(file, 'utf8')).toBe(GOOD.stores);
    await write(files(), 'stores', '');
  });

  it('[OPF-6] [ERR-12] a write based on an older version is a conflict and changes nothing', async () => {
    const seen = files().read('host').digest;
    await write(files(), 'host', GOOD.host, seen);
    await expect(write(files(), 'host', '{"host": "b"}', seen)).rejects.toMatchObject({
      code: 'conflict',
      details: { conflict: true, digest: digestOf(GOOD.host) },
    });
    expect(files().read('host').text).toBe(GOOD.host);
    await write(files(), 'host', '{"host": "b"}');
    expect(files().read('host').text).toBe('{"host": "b"}');
  });

  it('[OPF-6] of two writers that read the same text, one succeeds and the other gets a conflict', async () => {
    const seen = files().read('stores').digest;
    const all = await Promise.allSettled(
      ['["/a"]', '["/b"]', '["/c"]'].map((text) => write(files(), 'stores', text, seen)),
    );
    expect(all.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
    for (const one of all) if (one.status === 'rejected') expect(one.reason.code).toBe('conflict');
  });

  it('[OPF-6] [ERR-4] an invalid text that the file has already is refused as any other', async () => {
    scratch.write('stores.json', '["/a"');
    await expect(files().plan('stores', '["/a"')).rejects.toMatchObject({ code: 'validator_refused' });
  });

  it('[OPF-1] shows an invalid file with its error', () => {
    scratch.write('stores.json', '["/a"');
    expect(files().read('stores')).toMatchObject({
      text: '["/a"',
      entries: null,
      problem: expect.stringContaining('is not valid JSON'),
    });
  });

  it('[OPF-4] [OPF-5] names each file in use that is not valid, and nothing about one that a variable overrides', () => {
    expect(files().errors()).toEqual([]);
    for (const id of OPERATOR_FILES) scratch.write(`${id}.json`, '{"agents": 1, ');
    const of = (env: NodeJS.ProcessEnv) =>
      files(env)
        .errors()
        .map(({ file }) => file);
    expect(of({})).toEqual(OPERATOR_FILES);
    expect(of({ SVC_STORES: '/a', SVC_PROJECTS: '/b', SVC_HOST: 'c' })).toEqual([
      'agents',
      'remotes',
      'host',
    ]);
    for (const { path, error } of files().errors()) expect(error).toContain(`${path} is not valid JSON`);
  });

  it('[OPF-1] lists and names a link that leads to itself', () => {
    symlinkSync('agents.json', join(scratch.path, 'agents.json'));
    expect(files().errors()).toMatchObject([
      { file: 'agents', error: expect.stringContaining('agents.json') },
    ]);
    expect(
      files()
        .list()
        .filter(({ exists }) => exists),
    ).toMatchObject([{ id: 'agents' }]);
  });

  it('[OPF-1] does not show bytes that are not text, which could not be sent back', () => {
    writeFileSync(join(scratch.path, 'host.json'), Buffer.from([0x22, 0xff, 0xfe, 0x22]));
    expect(() => files().read('host')).toThrow(/not UTF-8/);
    scratch.write('host.json', '"\ufffd"');
    expect(files().read('host').text).toBe('"\ufffd"');
  });

  it('[OPF-6] [ERR-12] replaces and removes bytes that are not text, unless the write is based on a text', async () => {
    const file = join(scratch.path, 'host.json');
    const garble = () => writeFileSync(file, Buffer.from([0x22, 0xff, 0xfe, 0x22]));
    garble();
    for (const digest of [digestOf(GOOD.host), digestOf(readFileSync(file, 'utf8'))])
      await expect(write(files(), 'host', GOOD.host, digest)).rejects.toMatchObject({
        code: 'conflict',
        details: { conflict: true },
      });
    await write(files(), 'host', GOOD.host);
    expect(readFileSync(file, 'utf8')).toBe(GOOD.host);
    garble();
    await write(files(), 'host', '');
    expect(existsSync(file)).toBe(false);
  });
});

const BY_CLI = ['remotes', 'agents', 'host'] as const;

describe('[OPF-2] [OPF-3] [OPF-4] an operator file that an external CLI validates', () => {
  it.each([
    {
      id: 'remotes',
      clause: 'OPF-2',
      argv: 'remotes list --configured --json',
      variable: 'SVC_REMOTES_FILE',
    },
    { id: 'agents', clause: 'OPF-3', argv: 'agents --json', variable: 'SVC_AGENTS_FILE' },
    { id: 'host', clause: 'OPF-4', argv: 'host --json', variable: 'SVC_HOST_CONFIG_FILE' },
  ] as const)('[$clause] $id is handed to it as a candidate before anything is written', async (row) => {
    const seen = join(scratch.path, 'seen');
    const cli = program(
      `[ ! -e "${scratch.path}/${row.id}.json" ] || exit 9\n{ echo "$@"; cat "$${row.variable}"; } > ${seen}`,
    );
    await write(files({ SVC_HOST: 'frozen' }, cli), row.id, GOOD[row.id]);
    expect(readFileSync(seen, 'utf8')).toBe(`${row.argv}\n${GOOD[row.id]}`);
    expect(files().read(row.id).text).toBe(GOOD[row.id]);
    expect(readdirSync(scratch.path).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it.each(BY_CLI)('[ERR-4] %s is refused with its exact message, in whichever form it prints', async (id) => {
    const plain = files({}, program('echo "svc: it is — not so" >&2; exit 3'));
    await expect(write(plain, id, GOOD[id])).rejects.toMatchObject({
      code: 'validator_refused',
      message: 'svc: it is — not so',
      details: { exit_status: 3 },
    });
    const json = files({}, program(`echo '{"error":"x","message":"Nor is this."}' >&2; exit 1`));
    await expect(write(json, id, GOOD[id])).rejects.toMatchObject({ message: 'Nor is this.' });
    expect(existsSync(join(scratch.path, `${id}.json`))).toBe(false);
  });

  it.each([
    { how: 'is missing', cli: () => join(scratch.path, 'gone') },
    { how: 'has no interpreter', cli: () => program('exec /no/such/interpreter') },
    { how: 'does not end', cli: () => program('exec sleep 30') },
    { how: 'is ended by a signal', cli: () => program('kill -9 $$') },
  ])('[ERR-27] is not changed when the CLI $how, and the text counts as unchecked', async ({ cli }) => {
    scratch.write('host.json', GOOD.host);
    await expect(write(files({}, cli(), 300), 'host', '{"host": "b"}')).rejects.toMatchObject({
      code: 'cli_unavailable',
      message: expect.stringContaining('was not checked and nothing was written'),
    });
    expect(files().read('host').text).toBe(GOOD.host);
  });

  it('[OPF-5] stores and projects are checked in the daemon, whatever the CLI reports', async () => {
    const silent = files({}, program('exit 1'));
    await write(silent, 'stores', GOOD.stores);
    await expect(write(silent, 'projects', BAD.projects[0])).rejects.toMatchObject({
      code: 'validator_refused',
    });
  });

  it('is validated in the same way by the command and by its functions in the daemon', {
    timeout: 120_000,
  }, async () => {
    for (const id of BY_CLI) {
      const [text] = BAD[id];
      const messages = [];
      for (const each of [files(), files({ SVC_HOST: 'frozen' }, OWN_CLI)]) {
        const error = await write(each, id, text).then(
          () => null,
          (refused: Error & { code: string }) => refused,
        );
        expect(error, id).toMatchObject({ code: 'validator_refused' });
        // The command names the candidate that it was given.
        messages.push(error!.message.replace(/\/\.[a-z]+\.json\.candidate-\w+\//, '/'));
      }
      expect(messages[0]).toBe(messages[1]);
    }
    await write(files({}, OWN_CLI), 'remotes', GOOD.remotes);
    expect(files().read('remotes').text).toBe(GOOD.remotes);
  });
});
