import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EntryFacts, serverAt, socketFault } from '../../src/platform/own-socket.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';

const OWN = 1000;
const OTHER = 1001;
const SOCKET: EntryFacts = { path: '/run/b/b.sock', kind: 'socket', uid: OWN, mode: 0o600 };
const folder = (path: string, mode = 0o700, uid = OWN): EntryFacts => ({ path, kind: 'folder', uid, mode });
const ROOT = folder('/', 0o755, 0);

describe('a socket that a remote is reached by', () => {
  it.each([
    ['in a private folder', SOCKET, [folder('/run/b'), ROOT], null],
    ['in a folder of the system', SOCKET, [folder('/run/b', 0o755, 0), ROOT], null],
    ['below a shared folder', SOCKET, [folder('/tmp/b'), folder('/tmp', 0o1777, 0), ROOT], null],
    ['that is not there', null, [folder('/run/b'), ROOT], null],
    ['of another user', { ...SOCKET, uid: OTHER }, [folder('/run/b'), ROOT], /another user \(uid 1001\)/],
    ['of root', { ...SOCKET, uid: 0 }, [folder('/run/b'), ROOT], /another user/],
    ['that is a file', { ...SOCKET, kind: 'other' as const }, [folder('/run/b'), ROOT], /is not a socket/],
    ['in a shared folder', SOCKET, [folder('/tmp', 0o1777, 0), ROOT], /shared by all users; put/],
    ['in a folder of a group', SOCKET, [folder("/run/it's", 0o770), ROOT], /chmod go-w '\/run\/it'\\''s'/],
    ['in a folder of all', SOCKET, [folder('/run/b', 0o777), ROOT], /run: chmod go-w \/run\/b$/],
    ['below a folder of all', SOCKET, [folder('/x/b'), folder('/x', 0o777), ROOT], /chmod go-w \/x$/],
    ['in a folder of another user', SOCKET, [folder('/x/b', 0o755, OTHER), ROOT], /folder of this user/],
    ['that is not there, in a folder of all', null, [folder('/run/b', 0o777), ROOT], /chmod go-w/],
  ] as const)('%s is judged by who could have made it', (_, socket, folders, fault) => {
    const said = socketFault(socket, folders, OWN);
    if (fault === null) expect(said).toBeNull();
    else expect(said).toMatch(fault);
  });
});

describe('where a server answers', () => {
  let scratch: ScratchFolder;
  let server: Server | null;
  beforeEach(() => {
    scratch = scratchFolder();
    chmodSync(scratch.path, 0o700);
    server = null;
  });
  afterEach(async () => {
    await new Promise<void>((done) => (server === null ? done() : server.close(() => done())));
    scratch.remove();
  });

  async function listening(path: string): Promise<string> {
    server = createServer();
    await new Promise<void>((done) => server!.listen(path, done));
    return path;
  }

  it('is the URL as it is, or the socket of this user, also through a link to its folder', async () => {
    const url = 'http://host-b.example:4000/api';
    expect(await serverAt({ url })).toEqual({ url });
    const socket = await listening(join(scratch.path, 'b.sock'));
    expect(await serverAt({ socket })).toEqual({ socketPath: socket });
    symlinkSync(scratch.path, join(scratch.path, 'link'));
    const linked = join(scratch.path, 'link', 'b.sock');
    expect(await serverAt({ socket: linked })).toEqual({ socketPath: linked });
  });

  it('is taken for granted where nothing is there yet, neither socket nor folder', async () => {
    for (const path of ['none.sock', 'no/folder/b.sock']) {
      const socket = join(scratch.path, path);
      expect(await serverAt({ socket })).toEqual({ socketPath: socket });
    }
  });

  it('is refused where the socket is a file, a link, or in a folder that others can write to', async () => {
    const open = join(scratch.path, 'open');
    mkdirSync(open);
    const socket = await listening(join(open, 'b.sock'));
    chmodSync(open, 0o777);
    await expect(serverAt({ socket })).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('chmod go-w'),
    });
    chmodSync(open, 0o700);
    expect(await serverAt({ socket })).toEqual({ socketPath: socket });
    const file = join(scratch.path, 'file');
    writeFileSync(file, '');
    const link = join(scratch.path, 'link.sock');
    symlinkSync(socket, link);
    for (const path of [file, link])
      await expect(serverAt({ socket: path })).rejects.toMatchObject({ code: 'invalid_config' });
    rmSync(file);
  });
});
