import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatDate, formatTimeOfDay } from '../../../src/cli/command-line/output.ts';
import { verb } from '../../../src/cli/verbs/log.ts';
import type { FiberRow } from '../../../src/contract/fiber.ts';
import type { LifeEntry } from '../../../src/contract/http/life.ts';
import type { Spend } from '../../../src/contract/http/spend.ts';
import { fiberAnswer, versionAnswer } from '../answers.ts';
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

const MINUTE = 60_000;
const NOON = Date.UTC(2026, 2, 7, 12);
const UID = fiberAnswer().uid!;
const ONE = '11111111-0000-4000-8000-000000000001';
const TWO = '22222222-0000-4000-8000-000000000002';

const at = (minute: number) => NOON + minute * MINUTE;
const when = (minute: number) => `${formatDate(at(minute), Date.now())} ${formatTimeOfDay(at(minute))}`;
const run = { harness: 'claude', agent: 'claude-sonnet', mux_session: 'loader-svc', run_id: 'run-1' };
const commit = { repo: '/srv/dev', files: 1, insertions: 12, deletions: 3, sha: 'a'.repeat(40) };
const ENTRIES: LifeEntry[] = [
  { at: at(0), kind: 'dispatch', session: ONE, ...run },
  { at: at(0), kind: 'prompts', session: ONE, count: 1 },
  { at: at(2), kind: 'prompts', session: ONE, count: 3 },
  { at: at(3), kind: 'commit', session: ONE, subject: 'Fonts\u001b[31m', ...commit },
  { at: at(4), kind: 'sent', session: ONE, files: ['/srv/dev/a.png', '/b.md'] },
];
const MESSAGES: LifeEntry[] = [
  {
    ...{ at: at(3), kind: 'message', session: ONE, message_id: 'm-1', direction: 'received' },
    ...{
      from: 'ada',
      to: `svc://host-a/claude/${ONE}`,
      status: 'submitted',
      transport: 'terminal',
      bytes: 9,
    },
  },
  {
    ...{ at: at(3), kind: 'message', session: ONE, message_id: 'm-2', direction: 'sent' },
    ...{ from: `svc://host-a/claude/${ONE}`, to: `svc://host-a/codex/${TWO}`, status: 'queued' },
    ...{ transport: 'held', bytes: 9 },
  },
];
const tokens = { input: 10, cache_read: 2_000, cache_write: 300, output: 44 };
const SPEND: Spend = {
  host: 'host-a',
  sessions: [
    {
      session: ONE,
      tokens,
      answers: 3,
      models: ['model-a'],
      unknown: null,
      harness: 'claude',
      began_at: NOON,
    },
    {
      session: TWO,
      tokens: null,
      answers: 0,
      models: [],
      unknown: 'transcript_missing',
      harness: 'claude',
      began_at: NOON,
    },
  ],
  total: tokens,
  unknown: 1,
};
describe('svc log', () => {
  /** A daemon that tells these entries, for the questions that it is asked. */
  async function serve(
    parts: Record<string, { entries: LifeEntry[]; earlier: number }>,
    over: Partial<FiberRow> = {},
    moments: Record<string, object> = {},
  ) {
    const answers = Object.entries(parts).map(([question, part]) => [
      `GET /fiber-life?uid=${UID}&${question}`,
      { body: { host: 'host-a', uid: UID, ...part } },
    ]);
    server = await serveAnswers({
      'GET /fibers/work/loader': { body: { fiber: fiberAnswer(over) } },
      'GET /version': { body: versionAnswer() },
      [`GET /spend?uid=${UID}`]: { body: SPEND },
      ...Object.fromEntries(answers),
      ...Object.fromEntries(
        Object.entries(moments).map(([query, body]) => [`GET /moment?${query}`, { body }]),
      ),
    });
    machine.writeDaemonFile([server.listen]);
  }

  it('[P25] is one page: what happened, and the tokens of each session, unknown where nobody counted', async () => {
    await serve({ 'limit=50': { entries: ENTRIES, earlier: 0 } });
    const { code, out } = await machine.svc('log', 'work/loader', '--verbose');
    expect(code).toBe(0);
    expect(when(0)).toMatch(/^[FS][rau]\w [678] Mar( 2026)? \d\d:00$/);
    expect(out).toBe(
      [
        'work/loader\tRewrite the loader',
        `${when(0)}\tstarted\t11111111\tclaude-sonnet, fresh`,
        `${when(0)}\tyou\t11111111\twrote to it`,
        `${when(2)}\tyou\t11111111\twrote to it 3 times`,
        `${when(3)}\tcommit\t11111111\taaaaaaaa Fonts\\u001b[31m (1 file, +12 -3)`,
        `${when(4)}\tsent\t11111111\t/srv/dev/a.png, /b.md`,
        '',
        'Tokens',
        `11111111\tmodel-a\t10\t2000\t300\t44`,
        `22222222\t-\tunknown (no transcript here)\t\t\t`,
        'in all, without 1 unknown\t\t10\t2000\t300\t44',
        '',
      ].join('\n'),
    );
  });

  it('names no session unless it is asked to, and sums the tokens up', async () => {
    await serve({ 'limit=50': { entries: [...ENTRIES, ...MESSAGES], earlier: 0 } });
    const { out } = await machine.svc('log', 'work/loader');
    expect(out).toContain(`${when(0)}\tstarted\tclaude-sonnet, fresh\n`);
    expect(out).toMatch(/\n\nTokens: 10 in, 2 k from cache, 300 to cache, 44 out; 1 session unknown\.\n$/);
    for (const inside of [ONE.slice(0, 8), TWO.slice(0, 8), 'loader-svc', UID])
      expect(out).not.toContain(inside);
  });

  it('tells what a person typed where the transcript is here, and counts it elsewhere', async () => {
    const said = (minute: number, who: string, text: string) => ({ at: at(minute), who, tool: null, text });
    const moment = (minute: number, ...words: object[]) => ({
      [`session=${ONE}&at=${at(minute) + 30_000}&within_ms=30000`]: {
        ...{ host: 'host-a', session: ONE, harness: 'claude', at: at(minute), words, more: false },
        said_before: null,
      },
    });
    const words = [
      said(0, 'person', 'You are a fiber worker: begin'),
      said(0.2, 'agent', 'I begin.'),
      said(0.5, 'person', `Keep the old\nflags working. ${'Really. '.repeat(40)}`),
    ];
    const moments = { ...moment(0, ...words), ...moment(2, said(2, 'person', 'The second.')) };
    await serve({ 'limit=50': { entries: ENTRIES, earlier: 0 } }, {}, moments);
    const { out } = await machine.svc('log', 'work/loader');
    expect(out).toContain(`${when(0)}\tyou\tKeep the old flags working. Really. `);
    // Its transcript tells one prompt, the ledger three.
    expect(out).toContain(`${when(2)}\tyou\twrote to it 3 times\n`);
    expect(out).not.toContain('fiber worker');
    const { out: json } = await machine.svc('log', 'work/loader', '--json');
    expect(JSON.parse(json).entries).toEqual(ENTRIES);
  });

  it('tells what an agent had asked before a person answered, and how long it waited', async () => {
    const moment = (minute: number, words: object[], said_before: object | null) => ({
      [`session=${ONE}&at=${at(minute) + 30_000}&within_ms=30000`]: {
        ...{
          host: 'host-a',
          session: ONE,
          harness: 'claude',
          at: at(minute),
          words,
          more: false,
          said_before,
        },
      },
    });
    const said = (minute: number, who: string, text: string) => ({ at: at(minute), who, tool: null, text });
    const entries: LifeEntry[] = [
      { at: at(10), kind: 'dispatch', session: ONE, ...run, by_request: true },
      { at: at(20), kind: 'commit', session: TWO, subject: 'Between', ...commit },
      { at: at(40), kind: 'prompts', session: ONE, count: 2 },
      { ...MESSAGES[0]!, at: at(50) },
      { at: at(60), kind: 'dispatch', session: TWO, ...run, by_request: false },
    ];
    await serve(
      { 'limit=50': { entries, earlier: 0 } },
      {},
      {
        ...moment(
          40,
          [
            said(40.1, 'person', 'The second.'),
            said(40.2, 'agent', 'Done. Is that all?'),
            said(40.3, 'person', 'Yes.'),
          ],
          said(11, 'agent', 'I looked at both.\n\nWhich one stays?'),
        ),
        ...moment(50, [said(50.1, 'person', 'from ada: go on')], said(45, 'agent', 'Shall I go on?')),
      },
    );
    const { out } = await machine.svc('log', 'work/loader');
    expect(out.split('\n').slice(1, 10)).toEqual([
      `${when(10)}\tstarted\tclaude-sonnet, fresh, by you`,
      `${when(11)}\tasked\tWhich one stays?`,
      `${when(20)}\tcommit\taaaaaaaa Between (1 file, +12 -3)`,
      `${when(40)}\tyou\tThe second. (waited 29 min)`,
      `${when(40)}\tasked\tIs that all?`,
      `${when(40)}\tyou\tYes.`,
      `${when(45)}\tasked\tShall I go on?`,
      `${when(50)}\tmessage\tfrom ada: read (waited 5 min)`,
      `${when(60)}\tstarted\tclaude-sonnet, fresh, by the daemon`,
    ]);
  });

  it('asks no more for what was said at a disk that does not answer', async () => {
    await serve({ 'limit=50': { entries: [...ENTRIES, ...MESSAGES], earlier: 0 } }, {}, {});
    const { out, code } = await machine.svc('log', 'work/loader');
    expect([code, out.includes(`${when(2)}\tyou\twrote to it 3 times\n`)]).toEqual([0, true]);
    expect(server!.seen.filter(({ path }) => path.includes('/moment'))).toHaveLength(1);
  });

  it('shows a message by who wrote it, or to whom, and how far it came', async () => {
    await serve({ 'limit=50': { entries: MESSAGES, earlier: 0 } });
    const { out } = await machine.svc('log', 'work/loader');
    expect(out).toContain('message\tfrom ada: read\n');
    expect(out).toContain('message\tto a codex session on host-a: held\n');
  });

  it.each([
    ['server_lost', false],
    ['reboot', false],
    ['vanished', true],
  ])('after an end by %s and a new beginning still says what to do: %s', async (reason, is_said) => {
    const died = { detail: 'it ended', mend: 'resume it', lasted_ms: 400, reason };
    const entries: LifeEntry[] = [ENTRIES[0]!, { at: at(1), kind: 'ended', session: ONE, ...died }];
    const over = async (more: LifeEntry[]) => {
      await serve({ 'limit=50': { entries: [...entries, ...more], earlier: 0 } });
      return (await machine.svc('log', 'work/loader')).out;
    };
    expect(await over([])).toContain('Likely fix: resume it.');
    const after = await over([{ ...ENTRIES[0]!, at: at(2) }]);
    expect(after).toContain('it ended');
    expect(after.includes('Likely fix')).toBe(is_said);
  });

  it.each([
    ['accepted', 'answered'],
    ['context_added', 'read as context'],
  ] as const)('[MDS-1] says of a message that was %s that it was %s', async (status, words) => {
    await serve({ 'limit=50': { entries: [{ ...MESSAGES[0]!, status } as LifeEntry], earlier: 0 } });
    const { out } = await machine.svc('log', 'work/loader');
    expect(out).toContain(`message\tfrom ada: ${words}\n`);
  });

  it('tells how long each run lasted, that the fiber was closed, and its verdict', async () => {
    const entries: LifeEntry[] = [
      { at: at(1), kind: 'handoff', session: ONE, lasted_ms: 3 * MINUTE + 7_000 },
      { at: at(2), kind: 'ended', session: ONE, lasted_ms: 400, reason: 'kill' },
      { at: at(3), kind: 'ended', session: TWO, lasted_ms: null, reason: 'x', detail: 'no room' },
      { at: at(4), kind: 'closed', session: null },
      { at: at(5), kind: 'accepted', session: null, exact: true },
      { at: at(6), kind: 'composted', session: null, exact: false },
    ];
    await serve({ 'limit=50': { entries, earlier: 0 } });
    const { out } = await machine.svc('log', 'work/loader');
    const lines = out.split('\n').slice(1, 7);
    expect(lines.map((line) => line.slice(line.indexOf('\t') + 1))).toEqual([
      'handed off\tafter 3 min',
      'ended\tstopped by you, after 0 s',
      'ended\tno room',
      'closed\t',
      'accepted\t',
      'set aside\tat that time or before',
    ]);
  });

  it('shows the newest entries, and says how many came before', async () => {
    await serve({ 'limit=1': { entries: ENTRIES.slice(-1), earlier: 4 } }, { svc: { host: 'host-b' } });
    const { out } = await machine.svc('log', 'work/loader', '-n', '1');
    expect(out).toContain('Its host is host-b; this is what host-a recorded.\n');
    expect(out).toContain('4 earlier; show them with: svc log work/loader -n 5\n');
    expect(out).toContain('\tsent\t');
    expect(out).not.toContain('\tcommit\t');
  });

  it('asks for as many parts as it takes, and cuts what came with the oldest one too many', async () => {
    const many = Array.from(
      { length: 1_000 },
      (_, nth): LifeEntry => ({
        ...{ at: at(10 + nth), kind: 'prompts', session: ONE, count: 1 },
      }),
    );
    await serve({
      'limit=1000': { entries: many, earlier: 9 },
      [`limit=1&before_ms=${at(10)}`]: { entries: ENTRIES.slice(3), earlier: 7 },
    });
    const { out } = await machine.svc('log', 'work/loader', '-n', '1001', '--json');
    const { entries, earlier } = JSON.parse(out);
    expect(entries).toEqual([ENTRIES[4], ...many]);
    expect(earlier).toBe(8);
  });

  it('answers all of it as JSON, of the shape that its page tells', async () => {
    await serve({ 'limit=2': { entries: ENTRIES.slice(3), earlier: 3 } });
    const { code, out } = await machine.svc('log', 'work/loader', '--json', '-n', '2');
    expect(code).toBe(0);
    const answer = JSON.parse(out);
    expect(verb.json!.parse(answer)).toEqual(answer);
    expect(answer).toMatchObject({ host: 'host-a', earlier: 3, fiber: { uid: UID }, spend: SPEND });
    expect(answer.entries.map(({ kind }: { kind: string }) => kind)).toEqual(['commit', 'sent']);
  });

  it.each([
    { of: 'that no worker ever took up', over: {}, asked: `/fiber-life?uid=${UID}&limit=50` },
    { of: 'without a uid', over: { uid: null }, asked: '/version' },
  ])('asks for nothing more of a fiber $of, and says so', async ({ over, asked }) => {
    await serve({ 'limit=50': { entries: [], earlier: 0 } }, over);
    const { code, out } = await machine.svc('log', 'work/loader');
    expect(code).toBe(0);
    expect(out).toBe('work/loader\tRewrite the loader\nNothing of it is recorded on host-a yet.\n');
    expect(server!.seen.map(({ path }) => path)).toEqual(['/fibers/work/loader', asked]);
  });

  describe('on a terminal', () => {
    const detail = 'no room '.repeat(30);
    const entries: LifeEntry[] = [
      ...ENTRIES,
      { at: at(5), kind: 'ended', session: ONE, lasted_ms: 1, reason: 'exited', detail },
    ];
    const shown = async (columns: number) => {
      await serve({ 'limit=50': { entries, earlier: 0 } });
      Object.assign(machine.context, { columns, outIsTerminal: true, colour: false });
      const { out } = await machine.svc('log', 'work/loader');
      return { out, widest: Math.max(...out.split('\n').map((line) => line.length)) };
    };

    it.each([40, 80, 120])('of %i columns has no longer line, and every word', async (columns) => {
      const { out, widest } = await shown(columns);
      expect(widest).toBeLessThanOrEqual(columns);
      expect(out.match(/room/g)).toHaveLength(30);
    });

    it('uses the width that there is', async () => {
      expect((await shown(120)).widest).toBeGreaterThan(100);
    });
  });

  it('prints a refusal, and says how to start a daemon that does not run', async () => {
    expect(await machine.svc('log', 'a')).toMatchObject({
      code: 3,
      out: '',
      err: 'svc: the daemon does not run; start it with: svc daemon start\n',
    });
    server = await serveAnswers({
      'GET /fibers/a': { status: 404, body: { error: 'fiber_not_found', message: 'no fiber a' } },
    });
    machine.writeDaemonFile([server.listen]);
    expect(await machine.svc('log', 'a')).toMatchObject({ code: 1, out: '', err: 'svc: no fiber a\n' });
  });
});
