import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findBridgeUrl } from '../../src/harness/claude/bridge-url.ts';
import { compareHooks } from '../../src/harness/hooks/installed-hooks.ts';
import { compareSkills } from '../../src/harness/hooks/worker-skills.ts';
import { readJsonConfig, readTomlConfig } from '../../src/harness/own-config.ts';
import { readMoment } from '../../src/harness/transcripts/moment.ts';
import { readSpend } from '../../src/harness/transcripts/session-spend.ts';
import { headLines } from '../../src/harness/transcripts/transcript-files.ts';
import { readTail } from '../../src/harness/transcripts/transcript-tail.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

/** What an agent may leave where a file of its harness is expected. */
const CULPRITS = [
  { what: 'a named pipe', make: (path: string) => execFileSync('mkfifo', [path]) },
  { what: 'a device', make: (path: string) => symlinkSync('/dev/zero', path) },
  ...(process.platform === 'linux'
    ? [{ what: 'a file of the kernel', make: (path: string) => symlinkSync('/proc/self/pagemap', path) }]
    : []),
];

describe.each(CULPRITS)('$what at the path of', ({ what, make }) => {
  const put = (name: string): string => {
    const path = join(scratch.path, name);
    mkdirSync(dirname(path), { recursive: true });
    make(path);
    return path;
  };
  const refused = { code: 'not_a_file', message: expect.stringContaining(what) };

  it('a transcript is refused by every reader of transcripts', async () => {
    const path = put('t.jsonl');
    await expect(readTail(path)).rejects.toMatchObject(refused);
    expect(() => readMoment(path, 'claude', { at: 0, within_ms: 1 })).toThrow(
      expect.objectContaining(refused),
    );
    await expect(headLines(path).next()).rejects.toMatchObject(refused);
    expect(() => findBridgeUrl(path, 0, 1_000_000)).toThrow(expect.objectContaining(refused));
    expect(await readSpend([{ session: 's', harness: 'claude', path }], scratch.path)).toMatchObject([
      { session: 's', unknown: 'unreadable' },
    ]);
  });

  it('a configuration of a program is reported as unreadable', async () => {
    for (const read of [readJsonConfig, readTomlConfig])
      expect(await read(put(`${read.name}`))).toMatchObject({
        value: {},
        broken: { severity: 'error', what: expect.stringContaining(what) },
      });
  });

  it('a skill or the settings with the hooks counts as absent', async () => {
    const env = { HOME: scratch.path, PATH: '' };
    put('.claude/settings.json');
    put('.claude/skills/fiber-store/SKILL.md');
    expect(await compareHooks(env)).toContainEqual({ harness: 'claude', state: 'absent', program: null });
    expect((await compareSkills(env)).installed).toContainEqual({
      harness: 'claude',
      state: 'absent',
      generation: null,
    });
  });
});
