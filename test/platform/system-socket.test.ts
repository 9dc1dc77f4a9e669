import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lookAtSystemSocket, type PassedEntry, systemSocketFault } from '../../src/platform/system-socket.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { type TrustedFolder, trustedFolder } from '../kit/trusted-folder.ts';

const OWN = 1000;
const OTHER = 1001;
const entry = (path: string, more: Partial<PassedEntry> = {}): PassedEntry => ({
  ...{ path, kind: 'folder', uid: 0, mode: 0o755 },
  ...more,
});
const SOCKET = entry('/run/t/t.sock', { kind: 'socket', mode: 0o666 });
const ROOT = entry('/');

describe('a socket of a program of the system', () => {
  it.each([
    ['of root', [ROOT, entry('/run'), SOCKET], null],
    ['of this user', [ROOT, entry('/home', { uid: OWN }), { ...SOCKET, uid: OWN }], null],
    ['behind a link of root', [ROOT, entry('/var/run', { kind: 'link', mode: 0o777 }), SOCKET], null],
    ['of another user', [ROOT, { ...SOCKET, uid: OTHER }], /t\.sock belongs to another user \(uid 1001\)/],
    [
      'behind a link of another user',
      [ROOT, entry('/l', { kind: 'link', uid: OTHER }), SOCKET],
      /^\/l belongs/,
    ],
    ['in a folder of another user', [ROOT, entry('/run', { uid: OTHER }), SOCKET], /^\/run belongs/],
    ['below a folder of a group', [ROOT, entry("/o'k", { mode: 0o775 }), SOCKET], /chmod go-w '\/o'\\''k'/],
    [
      'below a shared folder',
      [ROOT, entry('/tmp', { mode: 0o1777 }), entry('/tmp/t'), SOCKET],
      /write to \/tmp;/,
    ],
    ['that is a file', [ROOT, { ...SOCKET, kind: 'other' as const }], /is not a socket/],
    ['that is a link', [ROOT, { ...SOCKET, kind: 'link' as const }], /is not a socket/],
    ['of no name', [], /is not a socket/],
  ])('%s is judged by who could have made it', (_, passed, fault) => {
    const said = systemSocketFault(passed, OWN);
    if (fault === null) expect(said).toBeNull();
    else expect(said).toMatch(fault);
  });
});

describe('a path that leads to a socket', () => {
  let trusted: TrustedFolder;
  let shared: ScratchFolder;
  const server = createServer();
  beforeEach(async () => {
    trusted = trustedFolder();
    shared = scratchFolder();
    chmodSync(trusted.path, 0o700);
    await new Promise<void>((done) => server.listen(join(trusted.path, 't.sock'), done));
  });
  afterEach(async () => {
    await new Promise<void>((done) => server.close(() => done()));
    trusted.remove();
    shared.remove();
  });
  const look = (...names: string[]) => lookAtSystemSocket(join(trusted.path, ...names));

  it('[OPR-1] is trusted where every folder and link on the way is of root or this user', async () => {
    mkdirSync(join(trusted.path, 'a'));
    symlinkSync('../a', join(trusted.path, 'a', 'up'));
    symlinkSync(trusted.path, join(trusted.path, 'a', 'whole'));
    expect(await look('t.sock')).toEqual({ state: 'trusted' });
    expect(await look('a', 'whole', 't.sock')).toEqual({ state: 'trusted' });
    expect(await look('a', 'up', 'up', 'whole', 't.sock')).toEqual({ state: 'trusted' });
    expect(await look('none.sock')).toEqual({ state: 'absent' });
    expect(await look('t.sock', 'below')).toEqual({ state: 'absent' });
  });

  it('[OPR-1] is refused where another user may have made a step of it', async () => {
    const refused = (fault: RegExp) => ({ state: 'refused', fault: expect.stringMatching(fault) });
    writeFileSync(join(trusted.path, 'file'), '');
    symlinkSync('t.sock', join(trusted.path, 'link'));
    symlinkSync('circle', join(trusted.path, 'circle'));
    mkdirSync(join(trusted.path, 'open'));
    chmodSync(join(trusted.path, 'open'), 0o777);
    symlinkSync('../t.sock', join(trusted.path, 'open', 't.sock'));
    symlinkSync(`${trusted.path}/open/..`, join(trusted.path, 'through'));
    expect(await look('file')).toEqual(refused(/file is not a socket/));
    expect(await look('link')).toEqual(refused(/link is not a socket/));
    expect(await look('open', 't.sock')).toEqual(refused(/is not a socket/));
    expect(await look('through', 't.sock')).toEqual(refused(/chmod go-w .*open$/));
    expect(await look('circle', 't.sock')).toEqual(refused(/lead in a circle/));
    rmSync(join(trusted.path, 'through'));
    symlinkSync(shared.path, join(trusted.path, 'through'));
    symlinkSync(join(trusted.path, 't.sock'), join(shared.path, 't.sock'));
    symlinkSync(trusted.path, join(shared.path, 'back'));
    expect(await look('through', 'back', 't.sock')).toEqual(refused(/write to \/tmp/));
  });
});
