import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatMoment } from '../../../src/cli/command-line/output.ts';
import { verb } from '../../../src/cli/verbs/inbox.ts';
import type { Conversation, ConversationMessage } from '../../../src/contract/http/conversation.ts';
import { createMachine, type Machine, type StandIn, serveAnswers } from '../kit.ts';

let machine: Machine;
let server: StandIn | undefined;
beforeEach(() => {
  machine = createMachine();
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  machine.remove();
});

const NOON = Date.UTC(2026, 2, 7, 12);
const OWN = 'svc://host-a/claude/0198c0de-0000-4000-8000-000000000001';
const OTHER = 'svc://host-a/codex/0198c0de-0000-4000-8000-000000000002';
const message = (nth: number, over: Partial<ConversationMessage> = {}): ConversationMessage => ({
  ...{ message_id: `m-${nth}`, sent_at: NOON + nth, from: 'ada', to: OWN, fiber: 'work', uid: 'u-1' },
  ...{ status: 'submitted', transport: 'terminal', detail: 'seen', at: NOON, wake: true, hops: 0, bytes: 9 },
  ...{ text: 'Look here', ...over },
});
const FILE = { name: 'run.log', path: '/data/run.log', sha256: 'a'.repeat(64), size: 3 };
const MESSAGES = [
  message(1, { text: `Please look at this.\n\u001b[31m${'word '.repeat(30).trim()}` }),
  message(2, { from: OTHER, status: 'queued', transport: 'held', files: [FILE] }),
  message(3, { from: OWN, to: OTHER, status: 'rejected', reason: 'wake_refused' }),
  message(4, { text: null }),
];

const STATE = { host: 'host-a', fleet: { remotes: [{ name: 'host-b' }] } };

async function serve(query: string, page: Partial<Conversation> = {}): Promise<void> {
  server = await serveAnswers({
    'GET /state': { body: STATE },
    [`GET /messages?${query}`]: { body: { host: 'host-a', messages: MESSAGES, before: null, ...page } },
  });
  machine.writeDaemonFile([server.listen]);
}

describe('svc inbox', () => {
  it('shows an agent the messages of its session, newest last, with how to answer', async () => {
    await serve('session=0198c0de-0000-4000-8000-000000000001&limit=20');
    machine.env.CLAUDE_CODE_SESSION_ID = '0198c0de-0000-4000-8000-000000000001';
    machine.env.COLUMNS = '80';
    const { code, out } = await machine.svc('inbox');
    expect(code).toBe(0);
    const when = formatMoment(NOON, Date.now());
    expect(out).toBe(
      [
        `${when}  from ada`,
        '  submitted; message m-1',
        '  | Please look at this.',
        `  | \\u001b[31m${'word '.repeat(30).trim()}`,
        '',
        `${when}  from ${OTHER}`,
        '  held; message m-2',
        '  | Look here',
        '  File: /data/run.log',
        `  Answer with: svc send ${OTHER} '…'`,
        '',
        `${when}  to ${OTHER}`,
        '  rejected (wake_refused); message m-3',
        '  | Look here',
        '',
        `${when}  from ada`,
        '  submitted; message m-4',
        '  | (9 bytes, no longer kept)',
        '',
      ].join('\n'),
    );
  });

  it.each([
    { of: ['work/loader', '-n', '5'], env: {}, query: 'fiber=work%2Floader&limit=5' },
    { of: [OTHER], env: {}, query: 'session=0198c0de-0000-4000-8000-000000000002&limit=20' },
    {
      of: ['svc://host-b/claude/s-2'],
      env: {},
      query: 'session=s-2&limit=20&origin=host-b',
    },
    { of: [], env: { SVC_FIBER_UID: 'u-1' }, query: 'fiber=u-1&limit=20' },
  ])('asks for $query, and answers all of it as JSON', async ({ of, env, query }) => {
    await serve(query, { before: '5-m-0' });
    Object.assign(machine.env, env);
    const { code, out } = await machine.svc('inbox', ...of, '--json');
    expect(code).toBe(0);
    expect(verb.json!.parse(JSON.parse(out))).toEqual(JSON.parse(out));
  });

  it('refuses an address of a host that is not known', async () => {
    await serve('session=s-2&limit=20');
    const { code, out, err } = await machine.svc('inbox', 'svc://host-bb/claude/s-2');
    expect(code).not.toBe(0);
    expect(out).toBe('');
    expect(err).toContain('no host is called host-bb. Did you mean host-b?');
  });

  it('names no command for a sender that only begins as an address', async () => {
    const from = 'svc://host-a/claude/x; touch y #';
    await serve('fiber=work&limit=20', { messages: [message(1, { from })] });
    const { out } = await machine.svc('inbox', 'work');
    expect(out).toContain(`from ${from}`);
    expect(out).not.toContain('Answer with');
  });

  it('says that there are earlier ones, or none', async () => {
    await serve('fiber=work&limit=4', { before: '5-m-0' });
    expect((await machine.svc('inbox', 'work', '-n', '4')).out).toMatch(
      /^There are earlier messages; show more with: -n/,
    );
    await server?.close();
    await serve('fiber=work&limit=20', { messages: [] });
    expect((await machine.svc('inbox', 'work')).out).toBe('No messages.\n');
  });

  it.each([[[]], [['work', '-n', '0']], [['work', '-n', '201']], [['svc://nothing']]])(
    'refuses %j without asking a daemon',
    async (args) => {
      const { code, err } = await machine.svc('inbox', ...args);
      expect(code).not.toBe(0);
      expect(err).toMatch(/name a fiber|1 to 200|is no address/);
    },
  );
});
