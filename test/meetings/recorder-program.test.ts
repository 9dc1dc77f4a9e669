import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  findRecorder,
  mirrorPath,
  modesOf,
  recorderArguments,
  recorderScript,
} from '../../src/meetings/recorder-program.ts';

describe('the program that records', () => {
  let dir = '';
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'recorder-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  const program = (name: string) => {
    const file = join(dir, name);
    writeFileSync(file, '#!/bin/sh\n');
    chmodSync(file, 0o700);
    return file;
  };

  it('is the configured one, by path or by name', async () => {
    const file = program('hark');
    for (const configured of [file, 'hark'])
      expect(await findRecorder({ configured, platform: 'linux', path: dir })).toEqual({
        program: { argv: [file], name: 'hark' },
      });
  });

  it('is missing with the fix where the configured one cannot be run [MTG-3]', async () => {
    const found = await findRecorder({ configured: join(dir, 'none'), platform: 'linux', path: dir });
    expect(found).toMatchObject({ unavailable: expect.stringContaining('SVC_RECORDER') });
    expect(modesOf(found, 'linux')).toEqual([]);
  });

  it('is the bundled one on Linux, else one on PATH', async () => {
    const bundled = await findRecorder({ configured: null, platform: 'linux', path: dir });
    expect(bundled).toMatchObject({ program: { name: 'svc' } });
    const none = await findRecorder({ configured: null, platform: 'darwin', path: dir });
    expect(none).toMatchObject({ unavailable: expect.stringContaining('svc-recorder') });
    const file = program('svc-recorder');
    expect(await findRecorder({ configured: null, platform: 'darwin', path: dir })).toMatchObject({
      program: { argv: [file] },
    });
  });

  it('offers all modes on macOS and the phone elsewhere [RPL-16] [RPL-24]', () => {
    const found = { program: { argv: ['x'], name: 'x' } };
    expect(modesOf(found, 'darwin')).toEqual(['call', 'room', 'phone']);
    expect(modesOf(found, 'linux')).toEqual(['phone']);
  });

  it('mirrors into the folder of its own name [CAP-4]', () => {
    expect(mirrorPath({ argv: [], name: 'hark' }, 'a-b')).toBe('~/.hark/meetings/a-b.txt');
  });

  it('is given every text as one word, whatever signs are in it', () => {
    const title = `it's "$(touch ${dir}/made)" \`x\` & more`;
    const record = {
      ...{ version: 1 as const, launch: 'L1', name: 'n', mode: 'phone' as const, title, started_at: 0 },
      ...{ mirror: null, fiber: null, fiber_uid: null, owner: null, process: null, stop_asked_at: null },
    };
    const paths = {
      ...{ state: join(dir, 'n.json'), transcript: join(dir, 'n.txt'), audio: join(dir, 'n.wav') },
      ...{ script: join(dir, 'n.sh'), log: join(dir, 'n.log') },
    };
    const argv = ['/usr/bin/printf', '%s\n', ...recorderArguments(record, paths)];
    writeFileSync(
      paths.script,
      recorderScript(argv, paths.log, { SVC_X: "a'b", SECRET: 'no', PATH: '/bin' }),
    );
    const words = execFileSync('/bin/sh', [paths.script], { encoding: 'utf8' }).split('\n');
    expect(words[words.indexOf('--title') + 1]).toBe(title);
    expect(words).not.toContain('--mirror');
    const script = readFileSync(paths.script, 'utf8');
    expect(script).toContain("export SVC_X='a'\\''b'");
    expect(script).not.toContain('SECRET');
    expect(() => readFileSync(join(dir, 'made'))).toThrow();
  });
});
