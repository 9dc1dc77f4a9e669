import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CodedError } from '../../src/base/errors.ts';
import type { Meeting } from '../../src/contract/http/meeting.ts';
import { rehearsal } from '../../src/contract/http/rehearsal.ts';
import { claimAddress } from '../../src/routes/capture.ts';
import { CAPTURED, CLAIMED, FIBER } from './samples.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
beforeEach(async () => {
  served = await serveRoutes();
});
afterEach(() => served.stop());

describe('POST /capture', () => {
  it('[WPL-6] [PRM-8] passes the request on with the address for the claim', async () => {
    served.callers.poller.answers.capture = () => CAPTURED;
    const body = { prompt: 'Do it.', project_dir: '/srv/dev', agent: 'codex', effort: 'low', store: '/s' };
    expect(await served.post('/api/v1/capture', body)).toMatchObject({ status: 200, json: CAPTURED });
    const claim = { url: `http://127.0.0.1:${served.port}/api/v1/claim`, socket: null };
    expect(served.callers.poller.asked).toEqual([{ name: 'capture', input: { ...body, claim } }]);
  });

  it('[ERR-17] [MUX-2] [WPL-6] answers a refusal 422 with its own body', async () => {
    const refused = {
      captured: false,
      reason: 'tmux_server_unavailable',
      host: 'host-a',
      message: 'no server',
    };
    served.callers.poller.answers.capture = () => refused;
    const answer = await served.post('/api/v1/capture', { prompt: 'x', project_dir: '/srv/dev' });
    expect(answer).toMatchObject({ status: 422, json: refused });
  });

  it('[WPL-6] [CAP-6] shows what a meeting and its scribe would do, or how the scribe is refused', async () => {
    const row: Meeting = {
      ...{
        state: 'starting',
        mode: 'phone',
        title: 'Budget',
        started_at: 1,
        tail: [],
        transcript: '/m/b.txt',
      },
      ...{ mirror_host: null, fiber: null, joined: false, phone: true, launch: 'l1', error: null },
      mux_session: 'recorder-meeting',
    };
    const { audio, poller } = served.callers;
    audio.answers.start_meeting = () => ({
      ...rehearsal('record "Budget" as phone', { minted: { launch: 'l1' } }),
      ...{ meeting: row, scribe_transcript: '/m/b.txt' },
    });
    poller.answers.capture = () => rehearsal('start a worker');
    const body = { prompt: 'Budget', project_dir: '/srv/dev', meeting: { mode: 'phone' }, dry_run: true };
    const shown = await served.post('/api/v1/capture', body);
    expect(shown).toMatchObject({
      status: 200,
      json: {
        would: 'record "Budget" as phone; then start a worker',
        steps: [{ would: 'record "Budget" as phone', minted: { launch: 'l1' } }, { would: 'start a worker' }],
      },
    });
    expect(poller.asked).toMatchObject([
      { input: { dry_run: true, meeting_launch: 'l1', prompt: expect.stringContaining('/m/b.txt') } },
    ]);
    const refused = { captured: false, reason: 'project_dir_missing', host: 'host-a', message: 'no folder' };
    poller.answers.capture = () => refused;
    expect(await served.post('/api/v1/capture', body)).toMatchObject({ status: 422, json: refused });
  });

  it('[WPL-6] refuses a request without a project_dir', async () => {
    expect((await served.post('/api/v1/capture', { prompt: 'x' })).status).toBe(400);
    expect(served.callers.poller.asked).toEqual([]);
  });
});

it('[PRM-8] a session claims at the first TCP address, else through the Unix socket', () => {
  const url = 'http://127.0.0.1:4000/api/v1/claim';
  expect(claimAddress(['unix:/run/svc', '127.0.0.1:4000', '[::1]:4000'])).toEqual({ url, socket: null });
  expect(claimAddress(['unix:/run/svc'])).toEqual({
    url: 'http://localhost/api/v1/claim',
    socket: '/run/svc',
  });
});

describe('POST /claim', () => {
  it('[WPL-5] [FIB-11] passes the claim on, also with an unknown origin', async () => {
    served.callers.poller.answers.claim = () => CLAIMED;
    const body = {
      fiber_id: FIBER.id,
      surface: 'cli',
      mux_session: 'capture-1',
      session_uuid: 's',
      meeting: 'm',
    };
    const answer = await served.post('/api/v1/claim', { ...body, origin: 'elsewhere' });
    expect(answer).toMatchObject({ status: 200, json: CLAIMED });
    expect(served.callers.poller.asked).toMatchObject([{ name: 'claim', input: body }]);
  });

  it('[WPL-5] shows the reason by its status', async () => {
    const codes = {
      worker_exists: 409,
      session_claimed: 409,
      session_not_found: 404,
      fiber_not_found: 404,
      no_agent_in_session: 422,
      not_a_worker_session: 422,
    };
    for (const [code, status] of Object.entries(codes)) {
      served.callers.poller.answers.claim = () => {
        throw new CodedError(code, 'because');
      };
      const answer = await served.post('/api/v1/claim', { fiber_id: 'x', mux_session: 'y' });
      expect(answer).toMatchObject({ status, json: { error: code, message: 'because' } });
    }
  });
});
