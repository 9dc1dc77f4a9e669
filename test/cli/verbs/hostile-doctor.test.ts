import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { CodedError } from '../../../src/base/errors.ts';
import type { Check, Finding } from '../../../src/cli/verbs/doctor/check.ts';
import { runCheck } from '../../../src/cli/verbs/doctor.ts';
import { readSettings } from '../../../src/config/settings.ts';
import { answeringDisks } from '../../kit/answering-disks.ts';
import { createMachine, type Machine } from '../kit.ts';

let machine: Machine;
let store: string;

beforeEach(() => {
  machine = createMachine();
  store = join(machine.folder, 'store');
  mkdirSync(join(store, '.fibers'), { recursive: true });
  machine.env.SVC_STORES = store;
  machine.env.SVC_HOST = 'host-a';
});
afterEach(() => machine.remove());

const run = (check: Check) =>
  runCheck(
    { name: 'stores', check },
    {
      env: {},
      clock: systemClock,
      settings: readSettings(machine.env),
      daemon: { kind: 'absent' },
      disks: answeringDisks,
    },
  );

function writeFiber(name: string, front: string): void {
  mkdirSync(join(store, '.fibers', name), { recursive: true });
  writeFileSync(join(store, '.fibers', name, `${name}.md`), `---\n${front}\n---\n`);
}

async function findings(): Promise<Finding[]> {
  const { code, out } = await machine.svc('doctor', '--json');
  const answer = JSON.parse(out) as { ok: boolean; findings: Finding[] };
  expect(code).toBe(answer.ok ? 0 : 1);
  return answer.findings;
}

/** What no operator file and no document can take away. */
const ALWAYS = ['node', 'native http', 'tmux', 'data folder', 'host id', 'store'];

describe('a check of svc doctor', () => {
  it('that throws becomes one failed finding under its name, with a fix', async () => {
    const thrown = [new TypeError('wrong'), new CodedError('internal', 'wrong'), 'wrong'];
    const checks: Check[] = thrown.flatMap((error) => [
      () => {
        throw error;
      },
      () => Promise.reject(error),
    ]);
    for (const check of checks) {
      expect(await run(check)).toEqual([
        {
          name: 'stores',
          level: 'fail',
          what: 'this check failed: wrong',
          mend: expect.stringContaining('svc doctor'),
        },
      ]);
    }
  });

  it('that never ends becomes a failed finding too', async () => {
    const hurried = { ...systemClock, after: (_ms: number, step: () => void) => systemClock.after(0, step) };
    const found = await runCheck(
      { name: 'stores', check: () => new Promise(() => {}) },
      {
        env: {},
        clock: hurried,
        settings: readSettings(machine.env),
        daemon: { kind: 'absent' },
        disks: answeringDisks,
      },
    );
    expect(found).toMatchObject([{ name: 'stores', level: 'fail', what: expect.stringContaining('60 s') }]);
  });
});

describe('svc doctor', () => {
  it('names the fiber whose project_dir no system call accepts, and checks every other one', async () => {
    const svc = (dir: string) =>
      `id: 01HZZZZZZZZZZZZZZZZZZZZZZZ\nstatus: active\nsvc: {kind: one-shot, host: host-a, agent: codex, project_dir: ${dir}}`;
    writeFiber('nul', svc('"/tmp/a\\0b"'));
    writeFiber('good', svc(machine.folder));
    const found = await findings();
    expect(found).toContainEqual({
      name: 'fiber nul',
      level: 'fail',
      what: 'its project_dir holds control characters, so no worker can start',
      mend: 'set another with: svc install nul --project-dir DIR',
    });
    expect(found.some(({ name }) => name === 'agent codex')).toBe(true);
  });

  it('ends with a finding and its fix, whatever operator files and documents contain', async () => {
    const hostileText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\0', '/tmp/\0', '\u001b]0;x\u0007', '\u202e', '/'.repeat(5_000), 'a'.repeat(70_000)),
    );
    const hostileValue = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        hostileText,
        fc.constantFrom(null, true, -1, 1e308, 0),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(
          fc.constantFrom(
            'version',
            'stores',
            'projects',
            'host',
            'class',
            'remotes',
            'agents',
            'id',
            'cli',
            'pid',
            '__proto__',
          ),
          tie('value'),
          { maxKeys: 5 },
        ),
      ),
    })).value;
    const file = fc.constantFrom(
      'config/stores.json',
      'config/projects.json',
      'config/host.json',
      'config/remotes.json',
      'config/agents.json',
      'data/daemon.json',
    );
    const content = fc.oneof(
      hostileValue.map((value) => JSON.stringify(value)),
      fc.uint8Array({ maxLength: 200 }),
      fc.constantFrom('folder' as const, 'loop' as const),
    );
    const frontmatter = fc.record({ id: hostileText, agent: hostileText, project_dir: hostileText });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.tuple(file, content), { maxLength: 4, selector: ([name]) => name }),
        frontmatter,
        async (files, { id, agent, project_dir }) => {
          for (const [name, put] of files) {
            const path = join(machine.folder, name);
            if (put === 'folder') mkdirSync(path);
            else if (put === 'loop') symlinkSync(path, path);
            else writeFileSync(path, put);
          }
          const svc = { kind: 'one-shot', host: 'host-a', agent, project_dir };
          writeFiber('hostile', JSON.stringify({ id, status: 'active', svc }));
          const found = await findings();
          for (const [name] of files) rmSync(join(machine.folder, name), { recursive: true });
          expect(found.map(({ name }) => name)).toEqual(expect.arrayContaining(ALWAYS));
          for (const { level, mend, what } of found) {
            expect(mend === null, what).toBe(level === 'ok');
            expect(what).not.toMatch(/^this check failed/);
          }
        },
      ),
      { numRuns: 20 },
    );
  }, 60_000);
});
