import { afterEach, expect, it } from 'vitest';
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
  served.callers.fleet.answers.state = () => ({ remotes: [] });
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

it('[RPL-15] names each configured host as a gap, unless only this host is asked for', async () => {
  served = await serveRoutes();
  served.callers.poller.answers.state = () => POLLER_STATE;
  served.callers.fleet.answers.state = () => ({ remotes: [{ name: 'host-b', state: 'configured' }] });
  const gaps = [{ host: 'host-b', error: 'not_forwarded' }];
  expect((await served.get('/api/v1/peers')).json).toMatchObject({ gaps });
  expect((await served.get('/api/v1/peers?local=true')).json).toMatchObject({ gaps: [] });
});

it('[RDY-3] answers with a gap for this host while the poller does not answer', async () => {
  served = await serveRoutes({ ready_ms: null });
  served.callers.fleet.answers.state = () => ({ remotes: [] });
  expect(await served.get('/api/v1/peers')).toMatchObject({
    status: 200,
    json: { sessions: [], gaps: [{ host: 'host-a' }] },
  });
});
