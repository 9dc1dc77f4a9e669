import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { FiberRow } from '../../src/contract/fiber.ts';
import { HARNESS_NAMES, type HarnessName } from '../../src/contract/harness-name.ts';
import type { ModelRefusal } from '../kit/stub-model/stub-model.ts';
import { AGENTS_FOLDER } from '../kit/test-home.ts';
import { agreeWithPages } from './agree.ts';
import { type RealDaemon, startRealDaemon } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});

const HOUR_S = 3_600;
const MINUTE_MS = 60_000;
/** A full hour, since one program tells no seconds. */
const resets = Math.ceil(Date.now() / 1000 / HOUR_S) * HOUR_S + HOUR_S;

const error = {
  type: 'usage_limit_reached',
  message: 'The usage limit has been reached',
  plan_type: 'plus',
  resets_at: resets,
};

/** How the provider of each program turns away an account that is over its limit. */
const REFUSALS: Record<HarnessName, ModelRefusal> = {
  claude: {
    status: 429,
    headers: {
      'x-should-retry': 'false',
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': String(resets),
      'anthropic-ratelimit-unified-representative-claim': 'five_hour',
    },
    body: {
      type: 'error',
      error: { type: 'rate_limit_error', message: 'This request would exceed your limit.' },
    },
  },
  codex: { status: 429, headers: {}, body: { error } },
  pi: { status: 429, headers: { 'x-should-retry': 'false' }, body: { error } },
};

/** Claude Code speaks of usage limits to accounts that log in, and to none that bring a key. */
const LOGIN: Partial<Record<HarnessName, Record<string, string>>> = {
  claude: { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-stub' },
};

describe.each(HARNESS_NAMES)('a usage limit of the real %s', (name) => {
  it('[P10] holds back its account until the reset time, across a restart, but not for a person', async () => {
    daemon = await startRealDaemon(name, { settings: LOGIN[name] ?? {} });
    const one = daemon;
    one.stub.refuse(REFUSALS[name]);
    await one.arm('over');
    await one.release();
    const met = await one.rowWhere('over', ({ blocked }) => blocked?.reason === 'usage_limit');
    expect(Math.abs(met.blocked!.retry_at! - resets * 1000)).toBeLessThan(MINUTE_MS);
    await one.arm('waits');
    const waits = await one.rowWhere('waits', ({ blocked }) => blocked?.reason === 'usage_limit');
    expect(waits.blocked!.retry_at).toBe(met.blocked!.retry_at);
    await agreeWithPages(one);
    await one.killAndRestart();
    await one.release();
    await one.rowWhere('waits', ({ blocked }) => blocked?.reason === 'usage_limit');
    expect(one.launches().map(({ fiber }) => fiber)).toEqual(['over']);
    await agreeWithPages(one);
    one.stub.refuse(null);
    expect(await one.svc('dispatch', 'waits', '--force', '--yes')).toMatch(
      /^Note: .*over its usage limit until /m,
    );
    expect((await one.launch(1)).fiber).toBe('waits');
  });

  it('[P10] [P13] is followed by one worker of another agent, which is told of the conversation before', async () => {
    daemon = await startRealDaemon(name, { settings: LOGIN[name] ?? {}, prepare: withStandIn });
    const one = daemon;
    one.stub.refuse(REFUSALS[name]);
    await one.arm('over');
    await one.svc('reshape', 'over', '--on-limit', 'stand-in');
    await one.release();
    const isGiven = ({ runtime, svc }: FiberRow) =>
      runtime?.agent === 'stand-in' && svc?.agent === 'stand-in';
    await one.rowWhere('over', isGiven);
    const [before, after, ...more] = one.launches();
    expect(more).toEqual([]);
    expect(after!.prompt).toContain(before!.session_uuid);
    expect(await one.goneProcessesOf(before!)).toEqual([]);
    await one.rowWhere('over', ({ runtime }) => runtime?.state === 'running');
    expect(one.launches()).toHaveLength(2);
  });
});

/** An agent on an account of its own, which needs no model. */
async function withStandIn({ root }: { root: string }): Promise<Record<string, string>> {
  const config = join(root, 'stand-in');
  mkdirSync(config);
  const stand_in = {
    ...{ id: 'stand-in', harness: 'claude', cli: join(AGENTS_FOLDER, 'stays.sh'), effort_levels: [] },
    env: { CLAUDE_CONFIG_DIR: join(config, 'claude') },
  };
  writeFileSync(
    join(config, 'agents.json'),
    JSON.stringify({ version: 1, builtins: 'layer', agents: [stand_in] }),
  );
  return { SVC_CONFIG_DIR: config };
}
