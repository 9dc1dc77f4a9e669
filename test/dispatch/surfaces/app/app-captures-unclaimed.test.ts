import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import { UnclaimedConversations } from '../../../../src/dispatch/surfaces/app/app-captures-unclaimed.ts';
import type { World } from '../../../../src/dispatch/world/world.ts';

it('forgets an old capture also where its directory cannot be removed', async () => {
  const data_dir = mkdtempSync(join(tmpdir(), 'svc-old-capture-'));
  onTestFinished(() => rmSync(data_dir, { recursive: true }));
  mkdirSync(join(data_dir, 'runs'));
  const warned: unknown[] = [];
  const logger = { ...silentLogger, warn: (...told: unknown[]) => warned.push(told) };
  const captures = new UnclaimedConversations({
    settings: { data_dir, app_scheme: null },
    clock: systemClock,
    logger,
  } as unknown as World);
  captures.recall();
  captures.begin({ launch_id: 'old', captured_at: 1, ended_at: 2, app: { thread_id: 'a' } } as Parameters<
    typeof captures.begin
  >[0]);
  captures.begun('old');
  // No path below a file can be removed.
  rmSync(join(data_dir, 'runs'), { recursive: true });
  writeFileSync(join(data_dir, 'runs'), '');

  captures.removeOld(systemClock.now());
  expect(warned).toMatchObject([[{ launch: 'old' }, 'an old capture could not be removed']]);
  expect(captures.byConversation('a')).toBeUndefined();
});
