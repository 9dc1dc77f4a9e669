import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SETUP = new URL('../../ops/scripts/setup.mjs', import.meta.url).pathname;
const NODE = `node_modules/node-${process.platform}-${process.arch}`;
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-setup-'));
  mkdirSync(join(root, 'ops', 'scripts'), { recursive: true });
  copyFileSync(SETUP, join(root, 'ops', 'scripts', 'setup.mjs'));
  lock('sha-1');
  // Stands where npm would: installs what the lock file names, or fails when there is a file `broken`.
  writeFileSync(
    join(root, 'npm-cli.js'),
    `const fs = require('node:fs');
     fs.appendFileSync('calls', process.argv.slice(2).join(' ') + '\\n');
     if (fs.existsSync('broken')) process.exit(7);
     fs.mkdirSync('${NODE}/bin', { recursive: true });
     fs.writeFileSync('${NODE}/bin/node', '');
     fs.copyFileSync('package-lock.json', 'node_modules/.package-lock.json');`,
  );
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function lock(integrity: string): void {
  const packages = {
    '': {},
    [NODE]: { integrity, optional: true },
    'node_modules/node-other-x64': { integrity: 'sha-9', optional: true },
  };
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }));
}

function setup(): { code: number; out: string } {
  try {
    const out = execFileSync(process.execPath, [join(root, 'ops', 'scripts', 'setup.mjs')], {
      env: { ...process.env, npm_execpath: join(root, 'npm-cli.js') },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return { code: 0, out };
  } catch (error) {
    const failed = error as { status: number; stderr: string };
    return { code: failed.status, out: failed.stderr };
  }
}

const calls = () =>
  existsSync(join(root, 'calls')) ? readFileSync(join(root, 'calls'), 'utf8').split('\n').length - 1 : 0;

describe('ops/scripts/setup.mjs', () => {
  it('installs once, with one line of output, and prints nothing afterwards', () => {
    expect(setup()).toEqual({
      code: 0,
      out: 'Installing the packages (npm ci); this takes about a minute …\n',
    });
    expect(setup()).toEqual({ code: 0, out: '' });
    expect(calls()).toBe(1);
  });

  it('links the command, so that npx svc runs this checkout', () => {
    setup();
    rmSync(join(root, 'node_modules', '.bin'), { recursive: true });
    expect(setup()).toEqual({ code: 0, out: '' });
    expect(readlinkSync(join(root, 'node_modules', '.bin', 'svc'))).toBe('../../src/cli/svc.cjs');
  });

  it('installs again when the lock file changed', () => {
    setup();
    lock('sha-2');
    expect(setup().out).not.toBe('');
    expect(calls()).toBe(2);
  });

  it('does not change a folder that somebody else installed from the same lock file', () => {
    execFileSync(process.execPath, ['npm-cli.js', 'ci'], { cwd: root });
    expect(setup()).toEqual({ code: 0, out: '' });
    expect(calls()).toBe(1);
  });

  it('installs again if the folder came from another machine', () => {
    setup();
    rmSync(join(root, 'node_modules', '.fiber-dispatch-stamp'));
    rmSync(join(root, NODE), { recursive: true });
    expect(setup().out).not.toBe('');
  });

  it('fails with npm’s error, and retries the next time', () => {
    writeFileSync(join(root, 'broken'), '');
    expect(setup()).toEqual({ code: 1, out: 'Installing the packages failed: it ended with 7\n' });
    rmSync(join(root, 'broken'));
    expect(setup().code).toBe(0);
    expect(calls()).toBe(2);
  });
});
