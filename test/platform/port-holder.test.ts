import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { findPortHolder, listeningInodes } from '../../src/platform/port-holder.ts';

const HEADER =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';

function row(local: string, state: string, inode: string): string {
  return `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1 0 100 0 0 10 0\n`;
}

let folder: string | null = null;

afterEach(async () => {
  if (folder !== null) await rm(folder, { recursive: true });
  folder = null;
});

describe('listeningInodes', () => {
  it('finds listeners on the port and neither connections nor other ports', () => {
    const table =
      HEADER +
      row('0100007F:0FA0', '0A', '11') +
      row('0100007F:0FA0', '01', '12') +
      row('0100007F:0FA1', '0A', '13') +
      row('00000000000000000000000001000000:0FA0', '0A', '14') +
      row('0100007F:0FA0', '0A', '0');
    expect(listeningInodes(table, 4000)).toEqual(['11', '14']);
  });
});

describe('findPortHolder', () => {
  it.runIf(platform() === 'linux')('names the process that listens', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('not bound');
    const holder = await findPortHolder(address.port);
    await new Promise((resolve) => server.close(resolve));
    expect(holder).toMatchObject({ pid: process.pid, command: expect.stringContaining('node') });
    expect(await findPortHolder(address.port)).toBeNull();
  });

  it('falls back to the short name of a process without a command line', async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-proc-'));
    await mkdir(join(folder, 'net'));
    await mkdir(join(folder, '77', 'fd'), { recursive: true });
    await mkdir(join(folder, '78'));
    await writeFile(join(folder, 'net', 'tcp6'), HEADER + row('0:0FA0', '0A', '99'));
    await symlink('socket:[99]', join(folder, '77', 'fd', '3'));
    await writeFile(join(folder, '77', 'cmdline'), '');
    await writeFile(join(folder, '77', 'comm'), 'kworker\n');
    expect(await findPortHolder(4000, folder)).toEqual({ pid: 77, command: 'kworker' });
  });

  it('finds no process on a system without such tables', async () => {
    expect(await findPortHolder(4000, '/nonexistent')).toBeNull();
  });
});
