import { afterEach, describe, expect, it } from 'vitest';
import { CodedError } from '../../src/base/errors.ts';
import { DISPATCHED, FIBER, REFUSED } from './samples.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
afterEach(() => served.stop());

const REQUEST = {
  address: 'svc://host-a/claude/s-1',
  text: 'Look at the last commit.',
  from: 'ada',
  message_id: 'm-1',
};
const RECEIPT = {
  message_id: 'm-1',
  address: 'svc://host-a/claude/s-1',
  status: 'submitted' as const,
  transport: 'terminal',
  detail: 'the conversation shows it as a turn of the user',
  at: 1,
};

describe('POST /messages', () => {
  it.each(['submitted', 'queued', 'unknown', 'rejected'] as const)(
    '[MSG-5] [RCP-1] [RCP-2] [RCP-3] answers 200 with a receipt that is %s',
    async (status) => {
      served = await serveRoutes();
      served.callers.messages.answers.send = () => ({ ...RECEIPT, status });
      const answer = await served.post('/api/v1/messages', REQUEST);
      expect(answer).toMatchObject({ status: 200, json: { ...RECEIPT, status } });
      expect(served.callers.messages.asked).toMatchObject([{ input: { ...REQUEST, wake: true } }]);
    },
  );

  it.each([
    ['invalid_address', 400],
    ['wrong_host', 400],
    ['unsupported_harness', 400],
    ['preflight_failed', 400],
    ['message_id_conflict', 409],
  ])('[MSG-5] [ERR-7] [ERR-13] answers %s with %i', async (code, status) => {
    served = await serveRoutes();
    served.callers.messages.answers.send = () => {
      throw new CodedError(code, 'why');
    };
    const answer = await served.post('/api/v1/messages', REQUEST);
    expect(answer).toMatchObject({ status, json: { error: code } });
  });

  it('[MSG-5] [ERR-29] answers 503, without a receipt, while nothing can tell what became of it', async () => {
    served = await serveRoutes();
    served.callers.messages.answers.send = () => {
      throw new CodedError('component_unavailable', 'messages is starting again');
    };
    const { status, json } = await served.post('/api/v1/messages', REQUEST);
    expect(status).toBe(503);
    expect(json).toMatchObject({ error: 'component_unavailable' });
    expect(json).not.toHaveProperty('status');
  });

  it.each([
    ['an empty text', { text: ' \n' }],
    ['a control character', { text: 'a\u001b[201~b' }],
    ['a lone surrogate', { text: 'a\ud800' }],
    ['an id that is no id', { message_id: 'a b' }],
    ['a sender of two lines', { from: 'ada\nadmin' }],
    ['a sender with brackets', { from: 'ada] [message' }],
    ['a sender with a line separator', { from: 'ada\u2028admin' }],
    ['a sender with a paragraph separator', { from: 'ada\u2029admin' }],
    ['a sender with a C1 line end', { from: 'ada\u0085admin' }],
    ['a sender with a turned direction', { from: 'ada\u202eadmin' }],
    ['a sender with an isolate', { from: 'ada\u2066admin' }],
    ['a sender with a space of no width', { from: 'ada\u200badmin' }],
    ['a sender with a byte order mark', { from: 'ada\ufeffadmin' }],
    ['a sender with a C1 control', { from: 'ada\u009badmin' }],
    ['a sender with a tab', { from: 'ada\tadmin' }],
    ['a sender that only begins as an address', { from: 'svc://host-a/claude/x; touch y #' }],
    ['a sender with a command in its harness', { from: 'svc://host-a/claude; touch y/x' }],
    ['files', { attachments: [{ name: 'a', data: '', sha256: '' }] }],
  ])('[MSG-4] [ERR-7] refuses %s as an invalid_request, and asks nobody', async (_, change) => {
    served = await serveRoutes();
    const answer = await served.post('/api/v1/messages', { ...REQUEST, ...change });
    expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
    expect(served.callers.messages.asked).toEqual([]);
  });

  it('takes a sender by the canonical spelling of its address', async () => {
    served = await serveRoutes();
    served.callers.messages.answers.send = () => RECEIPT;
    await served.post('/api/v1/messages', { ...REQUEST, from: 'svc://host-b/Claude-Code/s-2' });
    expect(served.callers.messages.asked).toMatchObject([{ input: { from: 'svc://host-b/claude/s-2' } }]);
  });

  it('[RDY-3] answers while the daemon starts', async () => {
    served = await serveRoutes({ ready_ms: null });
    served.callers.messages.answers.send = () => ({ ...RECEIPT, status: 'queued', transport: 'held' });
    expect(await served.post('/api/v1/messages', REQUEST)).toMatchObject({ status: 200 });
  });
});

describe('POST /deliver', () => {
  const worker = (state: 'running' | 'starting') => ({
    ...FIBER,
    runtime: {
      mux_session: 'm',
      surface: 'cli' as const,
      agent: 'a',
      harness: 'claude',
      session_uuid: 's-1',
      state,
      phase: 'idle' as const,
      phase_since: null,
      phase_source: null,
      said: null,
      run_id: 'r',
      started_at: 0,
      last_activity_at: null,
    },
  });
  const body = { fiber_id: FIBER.id, text: 'Look at the last commit.' };

  it('[WPL-10] sends a message to the session of a worker that runs', async () => {
    served = await serveRoutes();
    served.callers.poller.answers.fiber = () => ({ fiber: worker('running') });
    served.callers.messages.answers.send = () => RECEIPT;
    const answer = await served.post('/api/v1/deliver', body);
    expect(answer.json).toEqual({ delivered: true, delivery: 'message', receipt: RECEIPT });
    expect(served.callers.messages.asked).toMatchObject([
      { input: { address: 'svc://host-a/claude/s-1', text: body.text, wake: true } },
    ]);
  });

  it.each([
    [true, 'resume'],
    [false, 'dispatch'],
  ])(
    '[RES-7] [WPL-10] starts a worker with the text where none runs; resumed: %s is %s',
    async (resumed, delivery) => {
      served = await serveRoutes();
      served.callers.poller.answers.fiber = () => ({ fiber: FIBER });
      served.callers.poller.answers.dispatch = () => ({ ...DISPATCHED, resumed });
      const answer = await served.post('/api/v1/deliver', { ...body, from: 'ada' });
      expect(answer.json).toEqual({ ...DISPATCHED, resumed, delivered: true, delivery });
      expect(served.callers.poller.asked.at(-1)).toMatchObject({
        name: 'dispatch',
        input: {
          ...{ force: true, resume_mode: 'continue' },
          user_message: expect.stringMatching(
            new RegExp(
              `^\\[message \\(ends with (\\w{16})\\) from ada\\]\\n${body.text}\\n\\[\\1 end of message\\]$`,
            ),
          ),
        },
      });
    },
  );

  it('[WPL-10] starts a worker when the session ended before the message reached it', async () => {
    served = await serveRoutes();
    served.callers.poller.answers.fiber = () => ({ fiber: worker('running') });
    served.callers.messages.answers.send = () => ({
      ...RECEIPT,
      status: 'rejected',
      transport: 'none',
      reason: 'session_unavailable',
    });
    served.callers.poller.answers.dispatch = () => ({ ...DISPATCHED, resumed: true });
    expect((await served.post('/api/v1/deliver', body)).json).toMatchObject({ delivery: 'resume' });
  });

  it('[WPL-10] waits for the session of a worker that is starting, which a start would end', async () => {
    served = await serveRoutes();
    let looks = 0;
    served.callers.poller.answers.fiber = () => {
      const fiber = worker('starting');
      looks += 1;
      return { fiber: looks > 1 ? fiber : { ...fiber, runtime: { ...fiber.runtime, session_uuid: null } } };
    };
    served.callers.messages.answers.send = () => RECEIPT;
    expect((await served.post('/api/v1/deliver', body)).json).toMatchObject({ delivery: 'message' });
    expect(served.callers.poller.asked.map(({ name }) => name)).toEqual(['fiber', 'fiber']);
  });

  it('[WPL-10] [RCP-1] sends a message to the worker that another request has started meanwhile', async () => {
    served = await serveRoutes();
    served.callers.poller.answers.fiber = () => ({ fiber: FIBER });
    served.callers.poller.answers.dispatch = () => ({
      ...{ ...DISPATCHED, already_running: true, harness: 'claude', session_uuid: 's-2' },
    });
    served.callers.messages.answers.send = () => RECEIPT;
    const answer = await served.post('/api/v1/deliver', { ...body, from: 'ada' });
    expect(answer.json).toEqual({ delivered: true, delivery: 'message', receipt: RECEIPT });
    expect(served.callers.poller.asked.at(-1)).toMatchObject({ input: { force: true, ends_only: null } });
    expect(served.callers.messages.asked).toMatchObject([
      { input: { address: 'svc://host-a/claude/s-2', text: body.text, from: 'ada', wake: true } },
    ]);
  });

  it('[WPL-10] ends no other run than the one whose session has ended, and says so where none takes the text', async () => {
    served = await serveRoutes();
    served.callers.poller.answers.fiber = () => ({ fiber: worker('running') });
    let runs = 0;
    served.callers.poller.answers.dispatch = () => {
      runs += 1;
      return {
        ...{ ...DISPATCHED, already_running: true, run_id: `r-${runs}` },
        ...{ harness: 'claude', session_uuid: `s-${runs}` },
      };
    };
    served.callers.messages.answers.send = () => ({
      ...{ ...RECEIPT, status: 'rejected', transport: 'none', reason: 'session_unavailable' },
    });
    const answer = await served.post('/api/v1/deliver', body);
    expect(answer).toMatchObject({ status: 409, json: { error: 'conflict' } });
    const asked = served.callers.poller.asked.filter(({ name }) => name === 'dispatch');
    expect(asked.map(({ input }) => (input as { ends_only: unknown }).ends_only)).toEqual([
      'r',
      'r-1',
      'r-2',
    ]);
    const ids = served.callers.messages.asked.map(
      ({ input }) => (input as { message_id: string }).message_id,
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each([
    [REFUSED.reason, 422, 'dispatch'],
    ['session_open_in_resume', 422, 'resume'],
    ['app_server_unavailable', 503, 'dispatch'],
  ])(
    '[WPL-10] answers the refusal %s of a start as /dispatch does, and what was to be delivered how',
    async (reason, status, delivery) => {
      served = await serveRoutes();
      served.callers.poller.answers.fiber = () => ({ fiber: FIBER });
      served.callers.poller.answers.dispatch = () => ({ ...REFUSED, reason });
      const answer = await served.post('/api/v1/deliver', body);
      expect(answer.status).toBe(status);
      expect(answer.json).toEqual({ ...REFUSED, reason, delivered: false, delivery });
    },
  );

  describe('with a message_id', () => {
    const named = { ...body, message_id: 'm-1' };
    const RUNS = { ...DISPATCHED, already_running: true, harness: 'claude', session_uuid: 's-1' };

    it('sends a message under that id, and the same one again to the session that had it first', async () => {
      served = await serveRoutes();
      served.callers.poller.answers.dispatch = () => RUNS;
      served.callers.messages.answers.send = () => RECEIPT;
      const first = await served.post('/api/v1/deliver', named);
      served.callers.poller.answers.dispatch = () => DISPATCHED;
      expect((await served.post('/api/v1/deliver', named)).json).toEqual(first.json);
      expect(served.callers.messages.asked.map(({ input }) => input)).toMatchObject([
        { address: REQUEST.address, message_id: 'm-1' },
        { address: REQUEST.address, message_id: 'm-1' },
      ]);
      const starts = served.callers.poller.asked.filter(({ name }) => name === 'dispatch');
      expect(starts).toMatchObject([{ input: { message_id: 'm-1' } }]);
    });

    it('starts one worker for two requests, also while the first is under way', async () => {
      served = await serveRoutes();
      served.callers.poller.answers.fiber = () => ({ fiber: FIBER });
      served.callers.poller.answers.dispatch = () => DISPATCHED;
      const [one, two] = await Promise.all([1, 2].map(() => served.post('/api/v1/deliver', named)));
      expect(one?.json).toMatchObject({ delivery: 'dispatch' });
      expect(two?.json).toEqual(one?.json);
      expect((await served.post('/api/v1/deliver', named)).json).toEqual(one?.json);
      expect(served.callers.poller.asked.filter(({ name }) => name === 'dispatch')).toHaveLength(1);
    });

    it.each([
      ['one after the other', false],
      ['at once', true],
    ])('starts one worker for repeats of a message whose session has ended, %s', async (_, at_once) => {
      served = await serveRoutes();
      served.callers.messages.answers.send = () => ({ ...RECEIPT, status: 'queued', transport: 'held' });
      served.callers.poller.answers.dispatch = () => RUNS;
      await served.post('/api/v1/deliver', named);
      served.callers.messages.answers.send = () => ({
        ...RECEIPT,
        status: 'rejected',
        transport: 'none',
        reason: 'session_unavailable',
      });
      served.callers.poller.answers.dispatch = () => REFUSED;
      expect(await served.post('/api/v1/deliver', named)).toMatchObject({ status: 422 });
      let starts = 0;
      served.callers.poller.answers.dispatch = () => {
        starts += 1;
        return { ...DISPATCHED, resumed: starts === 1 };
      };
      const repeat = () => served.post('/api/v1/deliver', named);
      const answers = at_once
        ? await Promise.all([repeat(), repeat(), repeat()])
        : [await repeat(), await repeat(), await repeat()];
      for (const { status, json } of answers)
        expect({ status, json }).toMatchObject({ status: 200, json: { delivery: 'resume' } });
      expect(starts).toBe(1);
    });

    it('[ERR-13] refuses the id of another text', async () => {
      served = await serveRoutes();
      served.callers.poller.answers.fiber = () => ({ fiber: FIBER });
      served.callers.poller.answers.dispatch = () => DISPATCHED;
      await served.post('/api/v1/deliver', named);
      const answer = await served.post('/api/v1/deliver', { ...named, text: 'Something else.' });
      expect(answer).toMatchObject({ status: 409, json: { error: 'message_id_conflict' } });
    });

    it('tries again after a refusal and after a failure, which gave the text to nobody', async () => {
      served = await serveRoutes();
      served.callers.poller.answers.fiber = () => ({ fiber: FIBER });
      served.callers.poller.answers.dispatch = () => REFUSED;
      expect(await served.post('/api/v1/deliver', named)).toMatchObject({ status: 422 });
      served.callers.poller.answers.dispatch = () => {
        throw new CodedError('component_unavailable', 'the poller is starting again');
      };
      expect(await served.post('/api/v1/deliver', named)).toMatchObject({ status: 503 });
      served.callers.messages.answers.texts = () => ({ messages: [] });
      served.callers.poller.answers.dispatch = () => DISPATCHED;
      expect(await served.post('/api/v1/deliver', named)).toMatchObject({ status: 200 });
    });
  });
});
