import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONTRACT_LEVEL } from '../src/contract/level.ts';
import { findSkew } from '../src/daemon-skew.ts';
import { packageSkills } from '../src/harness/hooks/worker-skills.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-skew-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));
const find = (more: Partial<Parameters<typeof findSkew>[0]> = {}) =>
  findSkew({ env: { HOME: home }, cli: null, ...more });

describe('the skew found at boot', () => {
  it('[VER-3] is empty if nothing is installed, or only skills and hooks of this package', async () => {
    expect((await find()).skew).toEqual([]);
    for (const place of ['.claude', '.codex', '.pi/agent'])
      cpSync(packageSkills(), join(home, place, 'skills'), { recursive: true });
    expect((await find()).skew).toEqual([]);
    expect((await find()).generation).toMatch(/^[0-9a-f]{12}$/);
  });

  it('[VER-3] names the agent program whose skills were written for other launch messages', async () => {
    const skills = join(home, '.codex/skills');
    cpSync(packageSkills(), skills, { recursive: true });
    const file = join(skills, 'fiber-service/SKILL.md');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/launch-message: ".*"/, 'launch-message: "000000000000"'));
    expect((await find()).skew).toMatchObject([{ of: 'skills', where: 'codex', mend: 'svc setup codex' }]);
    expect((await find({ skills })).skew).toMatchObject([{ of: 'skills' }, { of: 'prompt', where: null }]);
    expect((await find({ skills })).generation).not.toBe((await find()).generation);
  });

  it.each([
    [CONTRACT_LEVEL, []],
    [null, [{ of: 'cli', where: '/opt/svc', what: expect.stringContaining('none') }]],
    [CONTRACT_LEVEL + 1, [{ of: 'cli', where: '/opt/svc', mend: expect.stringContaining('SVC_CLI') }]],
  ])('[VER-3] [DSP-3] judges a CLI that tells the contract level %j', async (contract, skew) => {
    expect((await find({ cli: { file: '/opt/svc', contract } })).skew).toMatchObject(skew);
  });
});
