import { afterEach, describe, expect, it } from 'vitest';
import { CodedError } from '../../src/base/errors.ts';
import { FIBER } from './samples.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
afterEach(() => served.stop());

const LINE = {
  ...{ at: 3, id: 'm-1', sent_at: 1, from: 'ada', to: 'svc://host-a/claude/s-1', fiber: 'work', uid: 'u-1' },
  ...{ status: 'queued', transport: 'held', bytes: 24, wake: true, hops: 0 },
};
const RECEIPT = {
  ...{ message_id: 'm-1', address: 'svc://host-a/claude/s-1', status: 'submitted', transport: 'terminal' },
  ...{ detail: 'the conversation shows it as a turn of the user', at: 4 },
};
const MESSAGE = { sent_at: 1, text: 'Look at the last commit.', receipt: RECEIPT };

function answer(page: object, texts: object[] = [MESSAGE]): void {
  served.callers.ledgers.answers.conversation = () => ({ before: null, known: true, ...page });
  served.callers.messages.answers.texts = () => ({ messages: texts });
}

describe('GET /messages', () => {
  it('tells each message with its text and the stage of its receipt', async () => {
    served = await serveRoutes();
    answer({ messages: [LINE], before: '1-m-1' });
    const { status, json } = await served.get('/api/v1/messages?session=s-1&limit=1');
    expect({ status, json }).toMatchObject({ status: 200, json: { host: 'host-a', before: '1-m-1' } });
    expect(json.messages).toEqual([
      {
        ...{ message_id: 'm-1', sent_at: 1, from: 'ada', to: LINE.to, fiber: 'work', uid: 'u-1' },
        ...{ status: 'submitted', transport: 'terminal', detail: RECEIPT.detail, at: 4 },
        ...{ wake: true, hops: 0, bytes: 24, text: MESSAGE.text },
      },
    ]);
    expect(served.callers.ledgers.asked.at(-1)).toMatchObject({ input: { session: 's-1', limit: 1 } });
  });

  it('names the files of a message', async () => {
    served = await serveRoutes();
    const files = [{ name: 'run.log', path: '/data/run.log', sha256: 'a'.repeat(64), size: 3 }];
    answer({ messages: [LINE] }, [{ ...MESSAGE, receipt: { ...RECEIPT, files } }]);
    expect((await served.get('/api/v1/messages?session=s-1')).json.messages).toMatchObject([{ files }]);
  });

  it.each([
    ['is kept no more', []],
    ['is another one, since its id was used again', [{ ...MESSAGE, sent_at: 9 }]],
  ])('tells the stage of the ledger, without a text, of a message that %s', async (_, texts) => {
    served = await serveRoutes();
    answer({ messages: [LINE] }, texts);
    expect((await served.get('/api/v1/messages?session=s-1')).json).toMatchObject({
      messages: [{ status: 'queued', text: null, detail: null, at: 3 }],
    });
  });

  it('[RDY-3] answers while the daemon starts, without the poller', async () => {
    served = await serveRoutes({ ready_ms: null });
    answer({ messages: [LINE] });
    expect(await served.get('/api/v1/messages?fiber=u-1')).toMatchObject({ status: 200 });
    expect(served.callers.poller.asked).toEqual([]);
  });

  it('finds a fiber by any of its names, and refuses one that there is not', async () => {
    served = await serveRoutes();
    answer({ messages: [], known: false });
    served.callers.poller.answers.fiber = () => ({ fiber: { ...FIBER, uid: 'u-1' } });
    expect(await served.get('/api/v1/messages?fiber=loader')).toMatchObject({ status: 200 });
    expect(served.callers.ledgers.asked.map(({ input }) => input)).toMatchObject([
      { fiber: 'loader' },
      { fiber: 'u-1' },
    ]);
    served.callers.poller.answers.fiber = () => {
      throw new CodedError('fiber_not_found', 'no such fiber');
    };
    expect(await served.get('/api/v1/messages?fiber=nobody')).toMatchObject({
      status: 404,
      json: { error: 'fiber_not_found' },
    });
  });

  it.each([
    '',
    '?fiber=u-1&session=s-1',
    '?session=..%2F..%2Fetc',
    '?session=s-1&limit=0',
    '?session=s-1&limit=201',
    '?session=s-1&before=yesterday',
  ])('refuses %j, and asks nobody', async (query) => {
    served = await serveRoutes();
    expect(await served.get(`/api/v1/messages${query}`)).toMatchObject({
      status: 400,
      json: { error: 'invalid_request' },
    });
    expect(served.callers.ledgers.asked).toEqual([]);
  });
});
