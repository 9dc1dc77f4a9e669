import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shellLine } from '../../src/base/shell-word.ts';
import { launcherOf } from '../built-package.ts';
import { type Bench, judged, median } from '../frame.ts';
import { childrenCpuMs } from '../process-cost.ts';
import { withScratch } from '../scratch.ts';

const ROUNDS = 15;
/** Runs of a round, one after the other by a shell: how long a large process takes to start any other is not asked. */
const RUNS = 16;
/** Of the floor, which a hook that starts Node cannot be below. */
const MOST = 0.15;
const event = (originalFile: string) =>
  JSON.stringify({
    session_id: '5f0c2d1e-7a3b-4c5d-8e9f-000000000001',
    transcript_path: '/srv/transcripts/5f0c2d1e.jsonl',
    cwd: '/srv/dev/loader',
    hook_event_name: 'PostToolUse',
    tool_name: 'Edit',
    tool_input: { file_path: '/srv/dev/loader/src/index.ts', old_string: 'one', new_string: 'two' },
    tool_response: { originalFile },
  });
const SHORT = event('');
const LONG = event('x'.repeat(1024 * 1024));

export const bench: Bench = {
  name: 'hook-start',
  question: 'how long does an agent wait for the hook that records what it did?',
  run: (log) =>
    withScratch(async (folder) => {
      const data = join(folder, 'd');
      const spool = join(data, 'hook-spool');
      mkdirSync(data);
      const env = { PATH: process.env.PATH, HOME: folder, SVC_DATA_DIR: data };
      const script = join(dirname(launcherOf('package')), 'svc-hook.sh');
      const command = `[ ! -r ${script} ] || exec ${shellLine(['/bin/sh', script, 'claude', process.execPath])}`;
      for (const [name, text] of Object.entries({ short: SHORT, long: LONG }))
        writeFileSync(join(folder, name), text);
      const shell = (line: string, input: string) =>
        `i=0; while [ $i -lt ${RUNS} ]; do /bin/sh -c '${line}' <${join(folder, input)}; i=$((i + 1)); done`;
      const kinds = {
        node: shell(`exec ${process.execPath} -e 0`, 'short'),
        shell: shell(':', 'short'),
        hook: shell(command, 'short'),
        long: shell(command, 'long'),
      };
      const times = { node: [], shell: [], hook: [], long: [] } as Record<keyof typeof kinds, number[]>;
      const cpu = { node: 0, shell: 0, hook: 0, long: 0 };
      let left = 0;
      for (let round = 0; round < ROUNDS; round += 1)
        for (const [kind, line] of Object.entries(kinds) as [keyof typeof kinds, string][]) {
          const before = childrenCpuMs();
          times[kind].push((await timed(line, env)) / RUNS);
          cpu[kind] += (childrenCpuMs() - before) / ROUNDS / RUNS;
          if (kind !== 'hook' && kind !== 'long') continue;
          left += readdirSync(spool).length;
          rmSync(spool, { recursive: true });
          mkdirSync(spool);
        }
      if (left !== 2 * ROUNDS * RUNS) throw new Error(`${2 * ROUNDS * RUNS} hooks left ${left} events`);
      log(`${left} events were left`);
      const against = (value: (kind: keyof typeof kinds) => number) => [
        { name: 'the hook', value: value('hook'), unit: 'ms' },
        { name: 'the hook with 1 MiB', value: value('long'), unit: 'ms' },
        { name: 'node -e 0', value: value('node'), unit: 'ms' },
        { name: 'sh -c :', value: value('shell'), unit: 'ms' },
      ];
      const wall = (kind: keyof typeof kinds) => median(times[kind]);
      const name = 'the hook, of node -e 0';
      return [
        judged(
          { name: `${name}, time`, value: wall('hook') / wall('node'), unit: '×', against: against(wall) },
          { most: MOST },
        ),
        judged(
          {
            name: `${name}, processor`,
            value: cpu.hook / cpu.node,
            unit: '×',
            against: against((kind) => cpu[kind]),
          },
          { most: MOST },
        ),
      ];
    }),
};

function timed(line: string, env: NodeJS.ProcessEnv): Promise<number> {
  const from = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', line], { env, stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', () => resolve(performance.now() - from));
  });
}
