import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({
    prepare(home) {
      home.fiber('map-tiles', { front: { status: 'open' } });
    },
  });
  const { home } = daemon;
  const names = ['SVC_STORES', 'SVC_CONFIG_DIR', 'SVC_DATA_DIR', 'SVC_RUNTIME_DIR', 'SVC_HOST'];
  const given = names.flatMap((name) => ['-e', `${name}=${home.env[name]}`]);
  const line = `'${process.execPath}' '${home.launcher}' status --watch; echo ended; exec sleep 600`;
  await home.tmux('new-session', '-d', '-s', 'person', '-x', '80', '-y', '24', ...given, line);
});
afterAll(async () => {
  await daemon.home.tmux('kill-session', '-t', 'person');
  await daemon.dispose();
});

const screen = () => daemon.home.tmux('capture-pane', '-p', '-t', 'person');
const shows = (what: RegExp) => until(`the page with ${what}`, async () => what.test(await screen()));

describe('svc status --watch', () => {
  it('draws the page in place as fibers move, and says so while no daemon answers', async () => {
    await shows(/^Nothing needs you\./m);
    await daemon.dispatch({ fiber_id: 'map-tiles' });
    await shows(/^. 1 working\n +map-tiles/m);
    expect((await screen()).match(/working/g)).toHaveLength(1);
    await daemon.kill9();
    await shows(/^(?:the daemon .*\n)?It is asked again each second\./m);
    expect(await screen()).not.toContain('map-tiles');
    await daemon.start();
    await shows(/^. 1 working\n +map-tiles/m);
    for (const line of (await screen()).split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('takes a terminal', async () => {
    expect(await daemon.home.svc('status', '--watch')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('svc status prints the page once'),
    });
  });
});
