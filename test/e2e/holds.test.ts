import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { launchesOf } from '../kit/launches.ts';
import { until } from '../kit/until.ts';

let daemon: TestDaemon;
const svc = async (...args: string[]) => {
  const { code, stdout, stderr } = await daemon.home.svc(...args);
  expect([args, code, stderr]).toEqual([args, 0, '']);
  return stdout;
};

describe('a fiber that a person killed', () => {
  beforeAll(async () => {
    daemon = await startTestDaemon({
      prepare: (home) => {
        for (const id of ['wrong', 'other']) home.fiber(id, { agent: 'stays' });
      },
    });
    for (const id of ['wrong', 'other']) await daemon.running(id);
  });
  afterAll(() => daemon.dispose());

  it('[WPL-4] [WPL-25] stays held with its reason over restarts and crashes, and is not started by a release', async () => {
    expect(await svc('kill', 'wrong', '--note', 'wrong branch', '--yes')).toMatch(
      /^Stopped wrong\.\nIt is held, also when the daemon is restarted; let it go on with: svc resume wrong\n$/,
    );
    for (const end of [() => daemon.kill9(), () => daemon.stop()]) {
      await end();
      await daemon.start({ release: false });
      expect(await svc('daemon', 'release')).toContain(
        'Still held:\n  wrong (stopped by you): svc resume wrong\n',
      );
      await daemon.ticks();
      expect(await svc('status')).toMatch(
        /^cannot start\twrong\tstopped by you: wrong branch\t\d+ (s|min)\tsvc resume wrong$/m,
      );
      expect(await svc('status', 'wrong')).toContain(
        'stopped by you: wrong branch; let it start with: svc resume wrong',
      );
      expect(await svc('why', 'wrong')).toMatch(
        /^wrong does not run: a person stopped its worker at \d\d:\d\d: wrong branch\.\nWhat to do: let it start with `svc resume wrong`/,
      );
    }
    expect(launchesOf(daemon.home.data, 'wrong')).toHaveLength(1);
    await svc('stop-all');
    expect(await svc('resume-all')).toContain('Still held: wrong; svc status says what lets each one start');
    expect((await daemon.row('wrong'))?.held).toBe('killed');
  });

  it('[WPL-4] is held although the file that says so was damaged', async () => {
    await daemon.stop();
    const folder = join(daemon.home.data, 'state', 'holds');
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), '{"version":1,"rea');
    await daemon.start();
    await daemon.ticks();
    expect((await daemon.row('wrong'))?.held).toBe('killed');
  });

  it('[WPL-25] goes on when it is resumed, also by the command alone while no daemon runs', async () => {
    await svc('resume', 'wrong');
    await daemon.running('wrong');
    await svc('kill', 'wrong', '--yes');
    await daemon.stop();
    expect(await svc('resume', 'wrong')).toContain('No daemon runs here; start it with: svc daemon start');
    await daemon.start({ release: false });
    await daemon.rowWhen('wrong', 'held by the start alone', (row) => row.held === 'boot_quarantine');
    expect(await svc('daemon', 'release')).toBe(
      'Held since the daemon started:\n  wrong\nReleased 1 held fiber.\n',
    );
    await daemon.running('wrong');
  });

  it('[WPL-25] is let go alone by resume while the start of the daemon holds it', async () => {
    for (const id of ['wrong', 'other']) await svc('kill', id, '--yes');
    await daemon.stop();
    for (const name of readdirSync(join(daemon.home.data, 'state', 'holds'))) expect(name).toMatch(/\.json$/);
    await daemon.start({ release: false });
    await svc('resume', 'other');
    await daemon.running('other');
    expect((await daemon.row('wrong'))?.held).toBe('killed');
  });

  it('[WPL-25] loses its hold when it is removed, also when no daemon runs then', async () => {
    const held = () => readdirSync(join(daemon.home.data, 'state', 'holds')).length;
    const before = held();
    await svc('kill', 'other', '--yes');
    expect(held()).toBe(before + 1);
    await svc('fiber', 'rm', 'other', '--yes');
    await until('the end of its hold', () => held() === before);
    await daemon.stop();
    await daemon.home.svc('fiber', 'add', 'another', '--store', daemon.home.store);
    await svc('fiber', 'rm', 'wrong', '--yes');
    await daemon.start();
    await until('the end of the other hold', () => held() === 0);
  });
});

describe('a fiber whose workers end again and again', () => {
  afterEach(() => daemon.dispose());

  it('[P26] is paused longer each time, then held, over a crash too, and shows every try', async () => {
    daemon = await startTestDaemon({
      settings: {
        SVC_BREAKER_DEATHS: '2',
        SVC_BREAKER_PAUSE_MS: '300',
        SVC_BREAKER_LONG_PAUSE_MS: '600',
        SVC_POLL_INTERVAL_MS: '200',
      },
      prepare: (home) => void home.fiber('looping', { agent: 'dies-at-once' }),
    });
    await daemon.rowWhen('looping', 'held', (row) => row.held === 'loop_breaker');
    await daemon.kill9();
    await daemon.start();
    await daemon.ticks();
    expect(launchesOf(daemon.home.data, 'looping')).toHaveLength(4);
    const page = await svc('status');
    expect(page).toMatch(/^needs you\tlooping\tdied: .*\tsvc why looping$/m);
    expect(await svc('status', 'looping')).toContain(
      'failed 4 times in a row; tried 4 times, not again by itself',
    );
    expect(await svc('daemon', 'release')).toContain('looping (failed again and again): svc resume looping');
    expect(await svc('why', 'looping')).toContain('What to do: read the last screen in `svc status looping`');
    expect(await svc('resume', 'looping')).toContain('looping: ready to start');
    await until('one more try', () => launchesOf(daemon.home.data, 'looping').length > 4);
  });

  it('is held at once where its agent ended with 0 and without a handoff, as when a person leaves it', async () => {
    daemon = await startTestDaemon({ prepare: (home) => void home.fiber('left', { agent: 'exits-0' }) });
    await daemon.rowWhen('left', 'held', (row) => row.held === 'clean_exit');
    await daemon.stop();
    await daemon.start();
    await daemon.ticks();
    expect(launchesOf(daemon.home.data, 'left')).toHaveLength(1);
    const why = await svc('why', 'left');
    expect(why).toContain('let it start with `svc resume left`');
    for (const page of [why, await svc('status', 'left'), await svc('status')])
      expect(page).not.toMatch(/died|fix|svc handoff/i);
    expect(await svc('log', 'left')).toMatch(/ended\texit code 0, without a handoff, after /);
    expect(await svc('dispatch', 'left')).toMatch(/^left (started|resumed):/);
  });
});
