import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import type { Activity } from '../../src/contract/http/activity.ts';
import { hookCommand } from '../../src/harness/hooks/hook-command.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';

let daemon: TestDaemon | undefined;
afterEach(() => daemon?.dispose());

it('[EVT-4] [EVT-5] [P7] an event of a hook is recorded once, whenever the daemon is killed and however long it is down', async () => {
  const one = await startTestDaemon();
  daemon = one;
  const { home, http } = one;
  const began = Date.now();
  let told = 0;
  /** A session that goes from tool to tool: each hook begins when the one before has ended. */
  const session = async (id: string, over: () => boolean) => {
    for (let nth = 0; !over(); nth += 1) {
      const event = { session_id: id, cwd: `/at/${nth}`, hook_event_name: 'PreToolUse', tool_name: 'Edit' };
      const child = spawn('/bin/sh', ['-c', hookCommand('claude')], {
        env: home.env,
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      child.stdin.end(JSON.stringify(event));
      expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
      told += 1;
      // A daemon that starts needs the machine too.
      await sleep(15);
    }
  };
  let over = false;
  const names = ['s-1', 's-2', 's-3'];
  const sessions = Promise.all(names.map((name) => session(name, () => over)));
  for (const pause of [150, 400]) {
    await sleep(pause);
    await one.kill9();
    const before = told;
    await until('more events', () => told > before + 20);
    await one.start();
  }
  over = true;
  await sessions;
  const folder = join(home.data, 'hook-spool');
  await until('all events are taken', () => readdirSync(folder).length === 0);
  const lines = readFileSync(join(home.data, 'events.jsonl'), 'utf8').trimEnd().split('\n');
  const events = lines.map(
    (line) => JSON.parse(line) as { sessionId: string; cwd: string; timestamp: number },
  );
  expect(events).toHaveLength(told);
  for (const name of names) {
    const own = events.filter(({ sessionId }) => sessionId === name);
    expect(own.map(({ cwd }) => cwd)).toEqual(own.map((_, nth) => `/at/${nth}`));
    expect(own.map(({ timestamp }) => timestamp)).toEqual(own.map(({ timestamp }) => timestamp).sort());
  }
  expect(existsSync(join(folder, 'dropped'))).toBe(false);
  const minute = Math.floor(began / 60_000) * 60_000;
  const path = `/activity?from_ms=${minute}&to_ms=${minute + 10 * 60_000}`;
  await until('the time route tells of all of them', async () => {
    const { buckets } = (await http.get<Activity>(path)).body;
    return buckets.reduce((sum, { n }) => sum + n, 0) === told;
  });
});
