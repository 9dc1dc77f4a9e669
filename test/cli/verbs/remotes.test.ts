import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';
import { versionAnswer } from '../answers.ts';
import { runInProcess } from '../in-process.ts';
import { whileAnswering } from './remotes/while-answering.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

const remotes = (...args: string[]) => runInProcess(['remotes', ...args], { SVC_CONFIG_DIR: scratch.path });
const file = () => join(scratch.path, 'remotes.json');
const listed = async () => JSON.parse((await remotes('list', '--configured', '--json')).out).remotes;

describe('svc remotes', () => {
  it('[OPF-2] lists the remotes of remotes.json, with every key', async () => {
    expect(await listed()).toEqual([]);
    expect((await remotes()).out).toBe('No remote.\n');
    const remote = { name: 'host-b', port: 4001, ssh_flags: ['-4'], auth: 'pubkey', odd: { a: 1 } };
    scratch.write('remotes.json', { remotes: [remote], defaults: { poll_interval_ms: 5_000 } });
    expect(await listed()).toEqual([remote]);
    expect((await remotes('list')).out).toMatch(/host-b\s+-\s+http:\/\/127\.0\.0\.1:4001/);
  });

  it.each([
    { text: '{"remotes": [{"port": 1}]}', says: /not valid at remotes\.0\.name/ },
    { text: '{"remotes": [{"name": "a b", "port": 1}]}', says: /must be a host id/ },
    { text: '{"remotes": [{"name": "a", "port": 70000}]}', says: /remotes\.0\.port/ },
    {
      text: '{"remotes": [{"name": "a", "ssh": "-oProxyCommand=x", "port": 1}]}',
      says: /may not begin with a dash/,
    },
    { text: '{"remotes": [{"name": "a", "url": "ftp://a"}]}', says: /http or https/ },
    { text: '{"remotes": [{"name": "a"}]}', says: /neither a port nor a url/ },
    {
      text: '{"remotes": [{"name": "a", "port": 1}, {"name": "a", "port": 2}]}',
      says: /two remotes are named "a"/,
    },
    {
      text: '{"remotes": [{"name": "a", "socket": "a.sock"}]}',
      says: /remotes\.0\.socket: must be an absolute path/,
    },
    {
      text: `{"remotes": [{"name": "a", "socket": "/${'x'.repeat(103)}"}]}`,
      says: /more than the 103 bytes/,
    },
    { text: '{"version": 2, "remotes": []}', says: /not valid at version/ },
  ])('[OPF-2] refuses $text with a message', async ({ text, says }) => {
    scratch.write('remotes.json', text);
    await expect(remotes('list')).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringMatching(says),
    });
    await expect(remotes('add', 'host-c', '--port', '4002')).rejects.toMatchObject({
      code: 'invalid_config',
    });
    expect(readFileSync(file(), 'utf8')).toBe(text);
  });

  it('[OPF-2] says in its list that an entry with the name of this host is not used, and what to do', async () => {
    scratch.write('remotes.json', { remotes: [{ name: 'host-a', port: 4001 }] });
    const env = { SVC_CONFIG_DIR: scratch.path, SVC_HOST: 'host-a' };
    expect((await runInProcess(['remotes', 'list'], env)).out).toMatch(
      /\nThe entry host-a of .*remotes\.json has the name of this host .* svc remotes rm host-a\n$/,
    );
    expect((await runInProcess(['remotes', 'list'], { ...env, SVC_HOST: 'host-b' })).out).not.toMatch(
      /name of this/,
    );
  });

  it('[AUT-4] adds, replaces and removes one remote, and does not change the text of the others', async () => {
    const text = `{ "defaults": {"request_timeout_ms": 2000},\n  "remotes": [ {"name": "host-b", "port": 4001, "auth": "pubkey", "big": 1e2} ] }\n`;
    scratch.write('remotes.json', text);
    const shown = await remotes('add', 'host-c', '--ssh', 'c', '--port', '4002', '--dry-run');
    expect(shown.out).toContain('+');
    expect(readFileSync(file(), 'utf8')).toBe(text);

    await remotes('add', 'host-c', '--ssh', 'c', '--port', '4002');
    expect(readFileSync(file(), 'utf8')).toContain(
      '{"name": "host-b", "port": 4001, "auth": "pubkey", "big": 1e2}',
    );
    expect((await listed()).map((one: { name: string }) => one.name)).toEqual(['host-b', 'host-c']);
    await remotes('add', 'host-c', '--url', 'http://c.example:4000');
    expect((await listed())[1]).toEqual({ name: 'host-c', url: 'http://c.example:4000' });
    expect((await remotes('rm', 'host-c', '--yes')).out).toContain('host-b');
    await expect(remotes('rm', 'host-c', '--yes')).rejects.toMatchObject({ code: 'not_found' });
    expect(JSON.parse(readFileSync(file(), 'utf8')).defaults).toEqual({ request_timeout_ms: 2000 });
  });

  it('[AUT-4] keeps what a replaced entry had beside its address', async () => {
    const ways = { ssh: 'b', port: 4001, remote_port: 4000, display: 'B' };
    const kept = { auth: 'pubkey', ssh_flags: ['-4'], tunnel: { label: 'x' }, odd: { a: 1 } };
    scratch.write('remotes.json', { remotes: [{ name: 'host-b', ...ways, ...kept }] });
    await remotes('add', 'host-b', '--socket', '/run/b.sock');
    expect(await listed()).toEqual([{ name: 'host-b', socket: '/run/b.sock', ...kept }]);
    expect((await remotes('list')).out).toMatch(/host-b\s+-\s+\/run\/b\.sock/);
  });

  it('pins the build of a daemon as it is added, and of one that is listed, and keeps the rest of its entry', async () => {
    const there = versionAnswer({ host: 'host-b', git_short_sha: 'b1b1b1b' });
    await whileAnswering(there, async (url) => {
      await remotes('add', 'host-b', '--url', url, '--pin');
      expect(await listed()).toEqual([{ name: 'host-b', url, build: 'b1b1b1b' }]);
      expect((await remotes('list')).out).toMatch(/^host-b\s.*\sb1b1b1b$/m);
      scratch.write('remotes.json', { remotes: [{ name: 'host-b', url, auth: 'pubkey' }] });
      const shown = await remotes('pin', 'host-b', '--dry-run');
      expect([shown.out.includes('b1b1b1b'), await listed()]).toEqual([
        true,
        [{ name: 'host-b', url, auth: 'pubkey' }],
      ]);
      await remotes('pin', 'host-b');
      expect(await listed()).toEqual([{ name: 'host-b', url, build: 'b1b1b1b', auth: 'pubkey' }]);
      await remotes('add', 'host-b', '--url', url);
      expect(await listed()).toMatchObject([{ build: 'b1b1b1b', auth: 'pubkey' }]);
      await remotes('pin', 'host-b', '--remove');
      expect(await listed()).toEqual([{ name: 'host-b', url, auth: 'pubkey' }]);
    });
  });

  it('pins nothing of a daemon that does not answer, and adds no entry for it', async () => {
    await expect(remotes('add', 'host-b', '--port', '1', '--pin')).rejects.toMatchObject({
      code: 'remote_unreachable',
      message: expect.stringMatching(/nothing was written\. .* add it without --pin$/),
    });
    expect(existsSync(file())).toBe(false);
    await remotes('add', 'host-b', '--port', '1');
    await expect(remotes('pin', 'host-b')).rejects.toMatchObject({ code: 'remote_unreachable' });
    await expect(remotes('pin', 'host-c')).rejects.toMatchObject({ code: 'not_found' });
    expect(await listed()).toEqual([{ name: 'host-b', port: 1 }]);
  });

  it('[OPF-6] removes the file with the last remote', async () => {
    await remotes('add', 'host-b', '--port', '4001');
    expect((await remotes('rm', 'host-b', '--yes')).out).toMatch(/: no remote\n$/);
    expect(existsSync(file())).toBe(false);
  });

  it('refuses this host, and writes nothing', async () => {
    const env = { SVC_CONFIG_DIR: scratch.path, SVC_HOST: 'host-a' };
    await expect(runInProcess(['remotes', 'add', 'host-a', '--port', '4001'], env)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('host-a is this host'),
    });
    expect(existsSync(file())).toBe(false);
  });

  it.each([
    [['add', 'a b', '--port', '1']],
    [['add', 'host-b', '--port', 'x']],
    [['add', 'host-b', '--socket', 'b.sock']],
    [['add', 'host-b', '--ssh=-x', '--port', '1']],
  ])('refuses %j and writes nothing', async (args) => {
    await expect(remotes(...args)).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(remotes('add', 'host-b')).rejects.toMatchObject({ code: 'invalid_config' });
    expect(existsSync(file())).toBe(false);
  });
});
