import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { POLLER_STATE } from './samples.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
afterEach(() => served.stop());

const RUN = {
  fiber_id: 'work/loader',
  uid: '01K',
  store: '/s',
  mux_session: 'loader-01K-svc',
  surface: 'cli' as const,
  agent: 'claude-sonnet',
  harness: 'claude',
  session_uuid: 's-1' as string | null,
  state: 'running' as const,
  phase: 'idle' as const,
  phase_since: null,
  phase_source: null,
  said: null,
  run_id: 'r',
  started_at: 0,
  last_activity_at: null,
};

it('[RPL-15] [RPL-25] [REC-4] lists each session by its address, and an app conversation by its thread', async () => {
  served = await serveRoutes();
  const app = { surface: 'app' as const, harness: 'codex', thread_id: 't-1', transcript_session_uuid: 't-2' };
  const running = [RUN, { ...RUN, ...app, mux_session: null }, { ...RUN, session_uuid: null }];
  served.callers.poller.answers.state = () => ({ ...POLLER_STATE, running });
  const more = { fiber: 'work/loader', fiber_uid: '01K', agent: 'claude-sonnet', phase: 'idle' };
  expect((await served.get('/api/v1/peers')).json).toEqual({
    host: 'host-a',
    sessions: [
      { address: 'svc://host-a/claude/s-1', surface: 'cli', ...more },
      { address: 'svc://host-a/codex/t-1', surface: 'app', transcript_id: 't-2', ...more },
    ],
    gaps: [],
  });
});

describe('the sessions of other hosts', () => {
  const THEIRS = {
    ...{ address: 'svc://host-b/pi/s-9', fiber: 'far', fiber_uid: null },
    ...{ surface: 'cli', agent: 'pi', phase: 'idle' },
  };
  const gaps = [{ host: 'host-c', error: 'remote_unreachable', message: 'host-c does not answer' }];

  beforeEach(async () => {
    served = await serveRoutes({
      remotes: { 'host-b': 'http://b', 'host-c': 'http://c', 'host-a': 'http://a' },
    });
    served.callers.poller.answers.state = () => POLLER_STATE;
    served.callers.fleet.answers.remote_peers = () => ({
      value: { gaps },
      bulk: Buffer.from(`${JSON.stringify(THEIRS)},${JSON.stringify(THEIRS)}`),
    });
  });

  it.each([0, 1])(
    '[RPL-15] [REC-4] stand after the %d of this host, and what cannot be listed is a gap',
    async (own) => {
      served.callers.poller.answers.state = () => ({ ...POLLER_STATE, running: Array(own).fill(RUN) });
      const { json } = await served.get('/api/v1/peers');
      expect(json).toMatchObject({ host: 'host-a', gaps });
      const addresses = (json.sessions as { address: string }[]).map(({ address }) => address);
      expect(addresses).toEqual([
        ...Array(own).fill('svc://host-a/claude/s-1'),
        ...Array(2).fill(THEIRS.address),
      ]);
    },
  );

  it('[RPL-15] are not asked for where only this host is meant', async () => {
    expect((await served.get('/api/v1/peers?local=true')).json).toMatchObject({ sessions: [], gaps: [] });
    expect(served.callers.fleet.asked).toEqual([]);
  });

  it('[RPL-15] are each a gap while nobody can be asked for them', async () => {
    served.callers.fleet.up = false;
    const error = 'component_unavailable';
    expect((await served.get('/api/v1/peers')).json).toMatchObject({
      gaps: [
        { host: 'host-b', error },
        { host: 'host-c', error },
      ],
    });
  });
});

it('[RDY-3] answers with a gap for this host while the poller does not answer', async () => {
  served = await serveRoutes({ ready_ms: null });
  expect(await served.get('/api/v1/peers')).toMatchObject({
    status: 200,
    json: { sessions: [], gaps: [{ host: 'host-a' }] },
  });
});
