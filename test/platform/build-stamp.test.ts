import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readBuildStamp } from '../../src/platform/build-stamp.ts';

const SHA = '0123456789abcdef0123456789abcdef01234567';
let root: string;

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-stamp-'));
  write('package.json', '{"version": "1.2.3"}');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('[OPR-1] the build stamp', () => {
  const stamp = { version: '1.2.3', git_short_sha: '0123456' };

  it('is what the build wrote, in a package', () => {
    write('dist/build.json', '{"version": "9", "git_short_sha": "0123456"}');
    expect(readBuildStamp(root)).toEqual(stamp);
  });

  it('is HEAD of a checkout, whatever an older build wrote', () => {
    write('dist/build.json', '{"git_short_sha": "fffffff"}');
    write('.git/HEAD', 'ref: refs/heads/main\n');
    write('.git/refs/heads/main', `${SHA}\n`);
    expect(readBuildStamp(root)).toEqual(stamp);
  });

  it('is found in packed refs, on a detached HEAD and in a linked worktree', () => {
    write('.git/HEAD', 'ref: refs/heads/main\n');
    write(
      '.git/packed-refs',
      `# pack-refs with: peeled\n${'f'.repeat(40)} refs/heads/main2\n${SHA} refs/heads/main\n`,
    );
    expect(readBuildStamp(root)).toEqual(stamp);
    write('.git/HEAD', `${SHA}\n`);
    expect(readBuildStamp(root)).toEqual(stamp);
    rmSync(join(root, '.git'), { recursive: true });
    write('.git', 'gitdir: shared/worktrees/a\n');
    write('shared/worktrees/a/HEAD', 'ref: refs/heads/part/a\n');
    write('shared/worktrees/a/commondir', '../..\n');
    write('shared/refs/heads/part/a', `${SHA}\n`);
    expect(readBuildStamp(root)).toEqual(stamp);
  });

  it('is unknown in a copy without history', () => {
    expect(readBuildStamp(root)).toEqual({ version: '1.2.3', git_short_sha: 'unknown' });
  });
});
