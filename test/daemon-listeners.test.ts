import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CodedError } from '../src/base/errors.ts';
import { createLogger } from '../src/base/logger.ts';
import { readSettings } from '../src/config/settings.ts';
import { lacksLoopbackV6, openListeners } from '../src/daemon-listeners.ts';

let folder: string;
let lines: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-listeners-'));
  lines = [];
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Opens the listeners of a server that binds everything but what `refuse` names. */
async function open(data_dir: string, refuse: (address: string) => boolean = () => false) {
  const asked: string[] = [];
  const settings = readSettings({ SVC_DATA_DIR: data_dir, SVC_LISTEN: '127.0.0.1:4711' });
  const bound = await openListeners({
    server: {
      async listen(address) {
        asked.push(address);
        if (refuse(address)) throw new CodedError('invalid_config', `cannot listen on "${address}"`);
        return address.startsWith('unix:') ? [address] : [address, '[::1]:4711'];
      },
    },
    settings,
    host_class: 'personal',
    logger: createLogger({
      component: 'main',
      level: 'warn',
      destination: { write: (line) => lines.push(line) },
    }),
  });
  return { asked, bound };
}

describe('openListeners', () => {
  it('returns the address of the settings first', async () => {
    const { bound } = await open(folder);
    expect(bound).toEqual(['127.0.0.1:4711', '[::1]:4711', `unix:${join(folder, 'socket/api.sock')}`]);
    expect(lines).toEqual([]);
  });

  it('continues without a socket that cannot be bound, and says why', async () => {
    const { bound } = await open(folder, (address) => address.startsWith('unix:'));
    expect(bound).toEqual(['127.0.0.1:4711', '[::1]:4711']);
    expect(lines.join('')).toContain('cannot listen on');
  });

  it('continues without a folder for the socket, and says why', async () => {
    writeFileSync(join(folder, 'socket'), '');
    const { asked, bound } = await open(folder);
    expect(asked).toEqual(['127.0.0.1:4711']);
    expect(bound).toEqual(['127.0.0.1:4711', '[::1]:4711']);
    expect(lines.join('')).toContain('cannot make the folder');
  });

  it('fails without the address of the settings', async () => {
    await expect(open(folder, (address) => address.startsWith('127.'))).rejects.toMatchObject({
      code: 'invalid_config',
    });
  });
});

it.each([
  [['127.0.0.1:4000'], true],
  [['127.0.0.1:4000', '[::1]:4000'], false],
  [['[::1]:4000'], false],
])('finds that %j lacks ::1: %s', (bound, lacks) => {
  expect(lacksLoopbackV6(bound)).toBe(lacks);
});
