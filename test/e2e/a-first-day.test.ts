import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { programOf } from '../kit/built-package.ts';
import { type Ran, run, TestHome } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';

const LAUNCHER = programOf('launcher.mjs');
const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

type Row = {
  status: string;
  svc: { runtime?: { dispatched_at?: string; handed_off_at?: string; session_uuid?: string } };
};

/** The commands of "Your first real task", as they stand there. */
function commandsOfReadme(): string[] {
  const section = README.split('## Your first real task')[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/```sh\n([\s\S]*?)```/g)]
    .flatMap(([, block]) => (block ?? '').split('\n'))
    .map((line) => line.trim().replace(/\s+#.*$/, ''))
    .filter((line) => line.startsWith('svc '));
}

/** A person who has nothing but the README: every line of it is typed into a shell, word for word. */
describe('a first day, starting from the README', () => {
  let home: TestHome;

  beforeAll(() => {
    home = new TestHome({ SVC_STORES: undefined, SVC_HOST: undefined });
    execFileSync('git', ['init', '--quiet', home.path('my-project')]);
    mkdirSync(home.path('claude-home'));
    home.write('bin/svc', `#!/bin/sh\nexec '${process.execPath}' '${LAUNCHER}' "$@"\n`);
    chmodSync(home.path('bin/svc'), 0o755);
    home.env.PATH = `${home.path('bin')}:${home.env.PATH}`;
    const path = home.path('config', 'agents.json');
    const file = JSON.parse(readFileSync(path, 'utf8'));
    for (const agent of file.agents) agent.default = false;
    file.agents.push({
      // In the place of the real one: it works on its fiber with `svc` alone, and hands off by `svc handoff`.
      id: 'claude-sonnet',
      default: true,
      harness: 'claude',
      cli: process.execPath,
      args: [LAUNCHER, 'demo-agent', '--pace-ms', '50', '--playground', home.path()],
      effort_levels: [],
      env: { CLAUDE_CONFIG_DIR: home.path('claude-home') },
    });
    writeFileSync(path, JSON.stringify(file));
  });
  afterAll(async () => {
    await typed('svc daemon stop');
    await home.dispose();
  });

  const typed = (line: string): Promise<Ran> => run('/bin/sh', ['-c', `cd ~ && ${line}`], home.env, 60_000);

  /** What a line prints that has to succeed. */
  async function svc(line: string): Promise<string> {
    const ran = await typed(line);
    expect(ran, line).toMatchObject({ code: 0, stderr: '' });
    return ran.stdout;
  }
  const rowWhen = (id: string, what: string, holds: (row: Row) => boolean) =>
    until(
      `${id} ${what}`,
      async () => {
        const row: Row = JSON.parse(await svc(`svc status ${id} --json`));
        return holds(row) ? row : null;
      },
      60_000,
    );

  it('leads from an empty home to accepted work', async () => {
    const told = new Map<string, string>();
    for (const line of commandsOfReadme()) {
      // A window of its own belongs to it; a terminal is tried elsewhere.
      if (line.startsWith('svc attach')) continue;
      if (line.startsWith('svc doctor')) {
        expect((await typed(line)).stdout).toMatch(/^ok +daemon: pid /m);
        continue;
      }
      const [, accepted] = /^svc accept (\S+)/.exec(line) ?? [];
      if (accepted !== undefined) await rowWhen(accepted, 'is closed', ({ status }) => status === 'closed');
      const ran = await typed(line);
      // It tells on the way what it makes.
      expect(ran, line).toMatchObject({ code: 0, ...(line.startsWith('svc run') ? {} : { stderr: '' }) });
      told.set(line, ran.stdout);
    }
    const [first] = told.keys();
    expect(told.get(first!)).toBe('svc attach write-a-hello-md\n');
    expect([...told.keys()]).toEqual(
      expect.arrayContaining([
        'svc why write-a',
        'svc daemon start',
        'svc daemon release',
        'svc accept say-hello',
        'svc why say-hello',
      ]),
    );
    expect(await svc('svc agents')).toContain('claude-sonnet');
    expect(await svc('svc status say-hello')).toContain('closed, accepted');
    expect(told.get('svc why say-hello')).toContain('say-hello does not run');
    expect(readFileSync(home.documentPath('say-hello', home.path('fibers')), 'utf8')).toMatch(
      /^tempered: true$/m,
    );
  });

  it('[LIF-7] [RES-2] has an agent hand off with `svc handoff`, and the next one start fresh', async () => {
    await svc('svc fiber add Relay --body "Carry on."');
    await svc('svc install relay --project-dir ~/my-project --agent hands-off');
    const first = await rowWhen(
      'relay',
      'was handed off',
      ({ svc }) => svc.runtime?.handed_off_at !== undefined,
    );
    const second = await rowWhen(
      'relay',
      'was taken up again',
      ({ svc }) => (svc.runtime?.dispatched_at ?? '') > (first.svc.runtime?.handed_off_at ?? ''),
    );
    expect(second.svc.runtime?.session_uuid).toEqual(expect.any(String));
    await svc('svc close relay --kill --yes');
    const { entries }: { entries: { kind: string; session: string }[] } = JSON.parse(
      await svc('svc log relay --json'),
    );
    const kinds = entries.map(({ kind }) => kind);
    expect(kinds.slice(0, 3)).toEqual(['dispatch', 'handoff', 'dispatch']);
    expect(kinds).not.toContain('resume');
    const begun = entries.filter(({ kind }) => kind === 'dispatch').map(({ session }) => session);
    expect(new Set(begun).size).toBe(begun.length);
  });

  it('[CAP-1] [WPL-6] has the agent of the demo file a captured text, claim it and work on it', async () => {
    await svc(
      'svc capture "Look for moss\n\nUnder the northern stones." --project-dir ~/my-project --agent claude-sonnet',
    );
    const path = home.documentPath('look-for-moss', home.path('fibers'));
    await until('the fiber of the text', () => existsSync(path), 60_000);
    await rowWhen(
      'look-for-moss',
      'is closed and handed off',
      ({ status, svc }) => status === 'closed' && svc.runtime?.handed_off_at !== undefined,
    );
    const written = readFileSync(path, 'utf8');
    expect(written).toContain('Under the northern stones.');
    expect(written).toContain('Session 1 of 1 is done.');
  });

  it('shows the whole day in `svc daemon logs`', async () => {
    const log = await svc('svc daemon logs --lines 1000');
    for (const fiber of ['say-hello', 'relay'])
      expect(log).toMatch(new RegExp(`info +poller: started a worker .*\\bfiber=${fiber} `));
    expect(log).toMatch(/a worker ended .*\bfiber=relay .*reason=handoff/);
    // What was said and asked is nobody's business in a log.
    expect(log).not.toContain('greets the reader');
    const lines = (await svc('svc daemon logs --json')).trimEnd().split('\n');
    expect(lines.every((line) => typeof JSON.parse(line).msg === 'string')).toBe(true);
  });
});
