import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger, silentLogger } from '../../src/base/logger.ts';
import { type Copy, CopyFiles, digestOf } from '../../src/fleet/copy-files.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';

let scratch: ScratchFolder;
let folder: string;
let log: string;
let files: CopyFiles;
beforeEach(() => {
  scratch = scratchFolder();
  folder = join(scratch.path, 'remote-temporal');
  log = '';
  const write = (text: string) => {
    log += text;
  };
  const logger = createLogger({ component: 'fleet', level: 'warn', destination: { write } });
  files = new CopyFiles({ folder, logger });
});
afterEach(() => scratch.remove());

const BYTES = Buffer.from('{"host":"host-b",\n"commits":[]}');
function copyOf(host: string, path: string, rest: Partial<Copy> = {}): Copy {
  const named = { host, path, window: null, etag: 'W/"c.1"', digest: digestOf(BYTES) };
  return { ...named, size: BYTES.length, last_ok_at: 1_700_000_000_123, ...rest };
}
const namesIn = (feed: string) => readdirSync(join(folder, feed));

describe('the last answers of other hosts on disk', () => {
  it('[TMP-8] are there for the next life, with their bytes and the moment they were confirmed', () => {
    const copy = copyOf('host-b', '/activity?from_ms=0&to_ms=1', { window: { from_ms: 0, to_ms: 1 } });
    expect(files.write('activity', copy, BYTES)).toBe(true);
    expect(files.copiesOf('activity', 'host-b')).toEqual([copy]);
    expect(files.read('activity', copy)).toEqual(BYTES);
    const later = { ...copy, last_ok_at: copy.last_ok_at + 61_000 };
    files.confirm('activity', copy, later.last_ok_at);
    expect(files.copiesOf('activity', 'host-b')).toEqual([later]);
    expect(files.copiesOf('commits', 'host-b')).toEqual([]);
    files.remove('activity', copy);
    expect([files.copiesOf('activity', 'host-b'), files.read('activity', copy)]).toEqual([[], null]);
    expect(log).toBe('');
  });

  it.each(['../../../etc/passwd', '/root/x', '.', 'a\0b', 'host b\n', 'x'.repeat(5_000), '$(reboot)', '🦊'])(
    '[TMP-8] lie in the folder of their feed whatever the host is called: %j',
    (host) => {
      expect(files.write('commits', copyOf(host, '/commits?../..'), BYTES)).toBe(true);
      const [name, ...others] = namesIn('commits');
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,80}$/);
      expect(others).toEqual([]);
      expect(readdirSync(folder)).toEqual(['commits']);
      expect(files.copiesOf('commits', host)).toEqual([copyOf(host, '/commits?../..')]);
    },
  );

  it('[TMP-8] are told apart where their hosts look the same as names of files', () => {
    const hosts = ['a/b', 'a:b', 'a_b'];
    for (const host of hosts) files.write('commits', copyOf(host, '/commits'), BYTES);
    expect(namesIn('commits')).toHaveLength(3);
    for (const host of hosts) expect(files.copiesOf('commits', host)).toEqual([copyOf(host, '/commits')]);
  });

  it('[TMP-8] are passed over where they are damaged, links or no files', () => {
    const copy = copyOf('host-b', '/commits');
    files.write('commits', copy, BYTES);
    const path = join(folder, 'commits', namesIn('commits')[0]!);
    const whole = readFileSync(path);
    for (const damaged of ['', 'x', whole.subarray(0, 40), '{"version":2}\n{}', `${'x'.repeat(100_000)}\n`]) {
      writeFileSync(path, damaged);
      expect([files.copiesOf('commits', 'host-b'), files.read('commits', copy)]).toEqual([[], null]);
    }
    writeFileSync(path, whole.toString().replace(copy.digest, 'of-other-bytes'));
    expect(files.read('commits', copy)).toBeNull();
    rmSync(path);
    mkdirSync(path);
    expect(files.copiesOf('commits', 'host-b')).toEqual([]);
    expect(log).toContain(path);
    rmSync(path, { recursive: true });
    const secret = scratch.write('secret', 'kept');
    symlinkSync(secret, path);
    expect(files.write('commits', copy, BYTES)).toBe(true);
    expect([readFileSync(secret, 'utf8'), files.read('commits', copy)]).toEqual(['kept', BYTES]);
  });

  it('[TMP-8] are removed where no host has confirmed them for a month, with what killed writers left', () => {
    const now = 1_700_000_000_123;
    files.write('commits', copyOf('host-b', '/commits'), BYTES);
    files.write('commits', copyOf('host-c', '/commits', { last_ok_at: now - 31 * 86_400_000 }), BYTES);
    writeFileSync(join(folder, 'commits', '.x.tmp-123-0123456789ab'), 'half');
    files.sweep(now);
    expect(namesIn('commits')).toEqual([expect.stringMatching(/^host-b-/)]);
    files.sweep(0);
    new CopyFiles({
      folder: join(folder, 'none'),
      logger: silentLogger,
    }).sweep(now);
    expect(namesIn('commits')).toHaveLength(1);
  });

  it('[TMP-8] do not make a data folder again that was deleted, and the log says so', () => {
    rmSync(dirname(folder), { recursive: true });
    expect(files.write('commits', copyOf('host-b', '/commits'), BYTES)).toBe(false);
    expect(existsSync(dirname(folder))).toBe(false);
    expect(log).toContain('cannot keep the answer of another host');
  });

  it('[TMP-8] keep their date where the clock of the file is another one', () => {
    const copy = copyOf('host-b', '/commits');
    files.write('commits', copy, BYTES);
    const path = join(folder, 'commits', namesIn('commits')[0]!);
    utimesSync(path, 5, 5);
    expect(files.copiesOf('commits', 'host-b')).toEqual([{ ...copy, last_ok_at: 5_000 }]);
  });
});
