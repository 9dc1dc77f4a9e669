import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { launcherOf } from '../built-package.ts';
import { type Bench, judged, median } from '../frame.ts';
import { withScratch } from '../scratch.ts';

const ROUNDS = 60;
const PAYLOAD = JSON.stringify({
  session_id: '5f0c2d1e-7a3b-4c5d-8e9f-000000000001',
  transcript_path: '/srv/transcripts/5f0c2d1e.jsonl',
  cwd: '/srv/dev/loader',
  hook_event_name: 'PostToolUse',
  tool_name: 'Edit',
  tool_input: { file_path: '/srv/dev/loader/src/index.ts', old_string: 'one', new_string: 'two' },
  tool_response: { success: true },
});

export const bench: Bench = {
  name: 'hook-start',
  question: 'how long does an agent wait for the hook that records what it did?',
  run: (log) =>
    withScratch(async (folder) => {
      const data = join(folder, 'd');
      mkdirSync(data);
      const env = {
        PATH: process.env.PATH,
        HOME: folder,
        XDG_CACHE_HOME: join(folder, 'k'),
        SVC_DATA_DIR: data,
      };
      const hook = [launcherOf('package'), 'hook', 'event', '--harness', 'claude'];
      const times = { floor: [] as number[], hook: [] as number[] };
      for (let round = 0; round <= ROUNDS; round += 1) {
        const floor = await timed(['-e', '0'], env);
        const ours = await timed(hook, env);
        // The first round fills the compile cache.
        if (round === 0) continue;
        times.floor.push(floor);
        times.hook.push(ours);
      }
      const lines = readFileSync(join(data, 'events.jsonl'), 'utf8').split('\n').length - 1;
      if (lines !== ROUNDS + 1) throw new Error(`${ROUNDS + 1} hooks left ${lines} lines`);
      log(`${lines} lines in the ledger`);
      return [
        judged(
          {
            name: 'svc hook event, of node -e 0',
            value: median(times.hook.map((time, round) => time / (times.floor[round] ?? 1))),
            unit: '×',
            against: [
              { name: 'svc hook event', value: median(times.hook), unit: 'ms' },
              { name: 'node -e 0', value: median(times.floor), unit: 'ms' },
            ],
          },
          { most: 1.3 },
        ),
      ];
    }),
};

function timed(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const from = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'ignore', 'ignore'] });
    child.stdin.on('error', () => undefined);
    child.stdin.end(PAYLOAD);
    child.once('error', reject);
    child.once('exit', () => resolve(performance.now() - from));
  });
}
