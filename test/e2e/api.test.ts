import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMPONENT_NAMES } from '../../src/contract/component.ts';
import { curlOf } from '../../src/routes/api-page.ts';
import { describedRows } from '../../src/routes/described-rows.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { isInstalled } from '../kit/installed.ts';
import { until } from '../kit/until.ts';

const run = promisify(execFile);
// A WebSocket has no answer that ends; test/e2e/live.test.ts connects to it.
const READS = describedRows().filter(({ method, socket }) => method === 'GET' && socket === undefined);

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({
    release: false,
    prepare(home) {
      home.fiber('say-hello', { front: { status: 'open' } });
      // `GET /doctor` asks every agent for its version, and some of the usual ones here write where they stand.
      const agents = JSON.parse(readFileSync(home.path('config/agents.json'), 'utf8'));
      agents.agents = agents.agents.filter((agent: { id: string }) => agent.id === 'stays');
      home.write('config/agents.json', agents);
    },
  });
});
afterAll(() => daemon.dispose());

describe('the API of a daemon', () => {
  it.each(READS)('answers the curl command of ops/api.md for GET $path', async (row) => {
    const curl = curlOf(row);
    const { stdout } = await run('bash', ['-c', `${curl} -o /dev/null -w '%{http_code}'`], {
      env: { ...process.env, SVC: `http://${daemon.address}` },
    });
    // The board need not be built where the tests run, and names its assets by their content.
    const expected = row.needs === undefined ? ['200', '302'] : ['200', '404', '422'];
    const isBoard = row.path === '/' || row.path.startsWith('/assets/');
    expect(isBoard ? ['200', '404'] : expected, curl).toContain(stdout);
  });

  it('[ERR-11] answers 404 for routes of an older or newer daemon', async () => {
    for (const path of ['/config/stores/more', '/configs', '/api/v1/config'])
      expect(await daemon.http.get(path)).toMatchObject({ status: 404, body: { error: 'not_found' } });
    expect(await daemon.http.get('//api/v2/config')).toMatchObject({ status: 404 });
  });

  it('[RTE-2] [RTE-3] uses the configured remotes, soon after their file is edited', async () => {
    const agents = () => daemon.http.get('/agents?origin=host-b');
    expect(await agents()).toMatchObject({ status: 404, body: { error: 'unknown_host' } });
    daemon.home.write('config/remotes.json', { remotes: [{ name: 'host-b', port: 1 }] });
    await until('the remote being known', async () => (await agents()).status === 503);
    const kill = await daemon.http.post('/kill', { fiber_id: 'say-hello', origin: 'host-b' });
    expect(kill).toMatchObject({ status: 503, body: { error: 'remote_unreachable', origin: 'host-b' } });
    rmSync(daemon.home.path('config/remotes.json'));
    await until('the remote being forgotten', async () => (await agents()).status === 404);
  });

  it('counts its requests by row, and measures its event loop from the first request on', async () => {
    await daemon.http.get('/fibers/say-hello');
    await daemon.http.get('/nowhere');
    await daemon.http.get('//metrics');
    const figures = (await daemon.http.get('//metrics')).text.split('\n');
    const startOf = (text: string) => figures.filter((line) => line.startsWith(text));
    expect(
      startOf('svc_http_requests_total{method="GET",route="/api/v1/fibers/*id",status="200"}'),
    ).toHaveLength(1);
    expect(startOf('svc_http_requests_total{method="GET",route="none",status="404"}')).toHaveLength(1);
    expect(startOf('svc_component_up').map((line) => line.at(-1))).toEqual(COMPONENT_NAMES.map(() => '1'));
    expect(startOf(`svc_store_up{store="${daemon.home.store}"} 1`)).toHaveLength(1);
    await until('a measurement', async () =>
      (await daemon.http.get('//metrics')).text.includes('svc_event_loop_delay_seconds{statistic="p99"}'),
    );
  });

  it.skipIf(!isInstalled('promtool'))(
    'exposes figures that promtool has nothing to say about (skipped where promtool is not installed)',
    async () => {
      const { text } = await daemon.http.get('//metrics');
      const checked = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
      expect(checked).toMatchObject({ status: 0, stdout: '', stderr: '' });
    },
  );

  it('logs the poller’s work for a request with the id of the request', async () => {
    daemon.home.fiber('logged', { front: { status: 'open' } });
    await daemon.rowWhen('logged', 'listed', () => true);
    const { headers, body } = await daemon.dispatch({ fiber_id: 'logged', force: true });
    expect(body.dispatched).toBe(true);
    const line = await until('the line of the poller', () =>
      daemon.log
        .split('\n')
        .find((one) => one.includes('"component":"poller"') && one.includes('"fiber":"logged"')),
    );
    expect(JSON.parse(line)).toMatchObject({ request_id: headers['x-request-id'] });
    await daemon.kill('logged');
  });
});
