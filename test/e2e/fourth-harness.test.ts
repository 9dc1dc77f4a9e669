import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Spend } from '../../src/contract/http/spend.ts';
import { TestDaemon } from '../kit/daemon.ts';
import { launchesOf } from '../kit/launches.ts';
import { run, TestHome } from '../kit/test-home.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FIXTURE = fileURLToPath(new URL('../fixtures/tally-harness/', import.meta.url));
/** Every file outside its own folder that a new harness changes. */
const EDITS: readonly [file: string, before: string, after: string][] = [
  ['src/contract/harness-name.ts', "'pi'] as const", "'pi', 'tally'] as const"],
  ['src/harness/harnesses.ts', '{ claude, codex, pi }', '{ claude, codex, pi, tally }'],
  [
    'src/harness/harnesses.ts',
    "from './pi/harness.ts';",
    "from './pi/harness.ts';\nimport { tally } from './tally/harness.ts';",
  ],
];

/** Copies the source tree, adds the folder of a fourth harness, and names it in the two lists. */
function copyWithFourth(copy: string): void {
  for (const name of ['src', 'workers', 'ops/skills', 'package.json', 'tsconfig.json'])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  mkdirSync(join(copy, 'src/harness/tally'));
  cpSync(join(FIXTURE, 'harness.ts'), join(copy, 'src/harness/tally/harness.ts'));
  for (const [file, before, after] of EDITS) {
    const text = readFileSync(join(copy, file), 'utf8');
    expect(text.split(before), file).toHaveLength(2);
    writeFileSync(join(copy, file), text.replace(before, after));
  }
}

describe('a fourth harness', () => {
  let home: TestHome;
  let daemon: TestDaemon;
  let folder: string;
  beforeAll(async () => {
    home = new TestHome();
    const copy = home.path('copy');
    copyWithFourth(copy);
    home.launcher = join(copy, 'src/cli/launcher.mjs');
    folder = home.path('tally-home');
    home.env.TALLY_HOME = folder;
    const cli = home.path('bin/tally');
    mkdirSync(dirname(cli));
    cpSync(join(FIXTURE, 'tally.mjs'), cli);
    chmodSync(cli, 0o755);
    home.env.PATH = `${dirname(cli)}:${home.env.PATH}`;
    home.write('config/agents.json', {
      version: 1,
      builtins: 'restrict',
      agents: [{ id: 'tally', harness: 'tally', default: true }],
    });
    daemon = new TestDaemon(home);
  });
  afterAll(() => daemon.dispose());

  it('needs changes in two files besides its own folder, and all types remain correct', async () => {
    expect(new Set(EDITS.map(([file]) => file)).size).toBe(2);
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const project = home.write('copy/tsconfig.harness.json', {
      extends: './tsconfig.json',
      include: ['src/harness', 'src/contract'],
      exclude: [],
    });
    const checked = await run(process.execPath, [tsc, '--noEmit', '-p', project], home.env, 240_000);
    expect(checked).toMatchObject({ code: 0, stdout: '' });
  }, 240_000);

  it('is reported by the doctor until its first-run question is answered', async () => {
    const findings = async () => JSON.stringify(JSON.parse((await home.svc('doctor', '--json')).stdout));
    expect(await findings()).toContain('Tally does not know your name');
    mkdirSync(folder);
    writeFileSync(join(folder, 'name'), 'Ada\n');
    const told = await findings();
    expect(told).not.toContain('Tally does not know');
    expect(told).toContain('these can start: tally');
  });

  it('gets its skills and hooks by a setup, which removes exactly these again', async () => {
    const kept = readFileSync(join(folder, 'name'), 'utf8');
    expect(await home.svc('setup', 'tally')).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, 'hooks.json'), 'utf8')).toContain('svc-hook.sh tally');
    expect(await home.svc('setup', 'tally', '--uninstall')).toMatchObject({ code: 0 });
    expect(() => readFileSync(join(folder, 'hooks.json'))).toThrow('ENOENT');
    expect(readFileSync(join(folder, 'name'), 'utf8')).toBe(kept);
    expect(await home.svc('setup', 'tally')).toMatchObject({ code: 0 });
  });

  /** Asked without the check against the description of this tree, which has no fourth harness. */
  const asked = async (path: string): Promise<unknown> =>
    (await fetch(`http://${daemon.address}/api/v1${path}`)).json();

  it('is launched, and its transcript shows the end of its turn, its last message and its usage', async () => {
    home.fiber('counted', { svc: { agent: 'tally' } });
    await daemon.start();
    const { runtime, uid } = await daemon.running('counted');
    const row = await daemon.rowWhen('counted', 'idle', (one) => one.runtime?.phase === 'idle');
    expect(row.runtime).toMatchObject({
      harness: 'tally',
      phase_source: 'transcript',
      said: expect.stringMatching(/^There are \d+ words\.$/),
    });
    expect(launchesOf(home.data, 'counted')).toHaveLength(1);

    const session = runtime.session_uuid;
    expect(await asked(`/transcript?session=${session}`)).toMatchObject({
      availability: 'available_local',
      harness: 'tally',
      source_path: join(folder, 'log', `${session}.tally`),
    });
    const { body } = await daemon.http.get<Spend>(`/spend?uid=${uid}`);
    expect(body.total).toEqual({ input: 11, cache_read: 0, cache_write: 0, output: 4 });
    expect(body.sessions).toMatchObject([{ session, harness: 'tally', models: ['abacus-1'], unknown: null }]);
    const links = await asked(`/sessions/links?sessions=${session}`);
    expect(links).toMatchObject({ links: [{ session, harness: 'tally', url: null }] });
  });
});
