import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { HARNESS_NAMES, type HarnessName } from '../../src/contract/harness-name.ts';
import type { Activity } from '../../src/contract/http/activity.ts';
import type { SentFilesRow } from '../../src/contract/http/sent-files.ts';
import type { CommitLedgerLine, SessionLine } from '../../src/contract/ledger.ts';
import type { Step } from '../kit/stub-model/script.ts';
import { writeAskingSettings } from './dialogs.ts';
import { type DaemonOptions, type RealDaemon, startRealDaemon, WITHIN_MS } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});

const MINUTE_MS = 60_000;
const minuteOf = (at: number) => Math.floor(at / MINUTE_MS) * MINUTE_MS;

/** A repository of the project, and what gives each program the means that its test needs. */
const SURROUNDINGS: Record<HarnessName, DaemonOptions> = {
  claude: {
    prepare: ({ home, project_dir, env }) => {
      makeRepository(project_dir, env);
      writeAskingSettings('claude', home);
      return undefined;
    },
    // It hands files over only where somebody can receive them.
    settings: {
      CLAUDE_CODE_REMOTE_ENVIRONMENT_TYPE: 'test',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      HTTPS_PROXY: 'http://127.0.0.1:9',
      NO_PROXY: '127.0.0.1',
    },
  },
  codex: {
    prepare: ({ project_dir, env }) => {
      makeRepository(project_dir, env);
      return undefined;
    },
  },
  pi: {
    prepare: ({ home, project_dir, env }) => {
      makeRepository(project_dir, env);
      mkdirSync(join(home, '.pi', 'agent', 'extensions'), { recursive: true });
      writeFileSync(join(home, '.pi', 'agent', 'extensions', 'send.ts'), PI_SENDS);
      return undefined;
    },
  },
};

/** Pi has the tools that its extensions bring. */
const PI_SENDS = `
export default function (pi) {
  pi.registerTool({
    name: 'SendUserFile',
    label: 'Send',
    description: 'Send files to the user',
    parameters: { type: 'object', properties: { files: { type: 'array', items: { type: 'string' } } } },
    execute: async () => ({ content: [{ type: 'text', text: 'sent' }], details: {} }),
  });
}
`;

function makeRepository(project_dir: string, env: Record<string, string>): void {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: project_dir, env });
  git('init', '-q');
  git('config', 'user.name', 'A Worker');
  git('config', 'user.email', 'worker@example.org');
}

const SENDS: Record<HarnessName, Step[]> = {
  claude: [{ tool: 'SendUserFile', input: { files: ['report.md'], status: 'normal' } }],
  codex: [],
  pi: [{ tool: 'SendUserFile', input: { files: ['report.md'] } }],
};

/** How the provider turns down a turn. */
const FAILURE = { type: 'error', error: { type: 'invalid_request_error', message: 'not like this' } };

/**
 * Who tells of a turn that failed, and events of the whole story that count as an agent's own: its session’s start and,
 * but for Codex, end, the launch message, two for each tool (Codex reads the
 * message by one), and the ends of the turns that its hooks tell of.
 */
const FACTS: Record<HarnessName, { failure: 'hook' | 'transcript'; agent: number }> = {
  claude: { failure: 'hook', agent: 14 },
  codex: { failure: 'transcript', agent: 10 },
  pi: { failure: 'hook', agent: 12 },
};

/** Everything that the routes of one daemon tell of one fiber. */
async function told(one: RealDaemon, uid: string, began: number) {
  const get = async <T>(path: string) => (await (await one.get(path)).json()) as T;
  const window = `from_ms=${minuteOf(began)}&to_ms=${minuteOf(Date.now()) + MINUTE_MS}`;
  const [{ buckets }, { commits }, { sessions }, all, trail] = await Promise.all([
    get<Activity>(`/activity?${window}`),
    get<{ commits: CommitLedgerLine[] }>('/commits'),
    get<{ sessions: SessionLine[] }>(`/sessions?uid=${uid}`),
    get<{ sent_files: SentFilesRow[] }>('/sent-files/all'),
    get<{ sent_files: SentFilesRow[] }>(`/sent-files?uid=${uid}`),
  ]);
  return { buckets, commits, sessions, all: all.sent_files, trail: trail.sent_files };
}

type Kind = Activity['buckets'][number]['k'];
type Span = { from: number; to: number };
const count = (buckets: Activity['buckets'], kind: Kind) =>
  buckets.filter(({ k }) => k === kind).reduce((sum, { n }) => sum + n, 0);

/** One of a kind in each span, in a bucket that may be of its time, and none besides. */
function liesIn(buckets: Activity['buckets'], kind: Kind, spans: readonly Span[]): void {
  expect([kind, count(buckets, kind)]).toEqual([kind, spans.length]);
  for (const { from, to } of spans) {
    const near = buckets.filter(({ k, m }) => k === kind && m >= minuteOf(from) && m <= to);
    expect([kind, near.length]).not.toEqual([kind, 0]);
  }
}

describe.each(HARNESS_NAMES)('the ledgers of the real %s', (name) => {
  it('[TMP-1] [TMP-2] [TMP-3] [TMP-4] [TMP-5] [EVT-5] [P16] record what it did, in its minute, and what it is doing', async () => {
    daemon = await startRealDaemon(name, SURROUNDINGS[name]);
    const one = daemon;
    const { stub, project_dir } = one;
    const isClaude = name === 'claude';
    const commit = 'echo one > report.md && git add report.md && git commit -q -m "Write the report"';
    stub.script({
      match: 'Then the second part.',
      steps: [
        { shell: 'while [ ! -e go ]; do sleep 0.1; done' },
        ...(isClaude ? [{ shell: 'touch asked' }] : []),
        { text: 'The second part is done.' },
      ],
    });
    stub.script({
      match: 'Fiber: told',
      steps: [{ shell: commit }, ...SENDS[name], { text: 'The first part is done.' }],
    });
    await one.svc('setup', name);
    await one.arm('told');
    const began = Date.now();
    await one.release();

    // The transcript may tell of the end of a turn a moment before the hook does.
    const phase = (wanted: string, said: string | RegExp | null, source = 'hook') =>
      one.rowWhere('told', ({ runtime }) => {
        if (runtime?.phase !== wanted || runtime.phase_source !== source) return false;
        return said instanceof RegExp ? said.test(runtime.said ?? '') : runtime.said === said;
      });
    const replies: Span[] = [];
    const replied = async (from: number, said: string) => {
      const row = await phase('idle', said);
      replies.push({ from, to: Date.now() });
      return row;
    };
    const first = await replied(began, 'The first part is done.');
    const uid = first.uid!;
    const { mux_session, session_uuid } = first.runtime!;
    const keys = (...words: string[]) => one.tmux('send-keys', '-t', `=${mux_session}:`, ...words);
    const typed: Span[] = [];
    /** Types as a person does, until the model hears of it. */
    const type = async (text: string) => {
      const from = Date.now();
      const heard = () => stub.requests.some(({ turns }) => turns.some((turn) => turn.text.includes(text)));
      await keys('-l', text);
      // A program may take an Enter that comes at once for a part of what was pasted.
      const enter = async () => heard() || (await keys('Enter').then(heard));
      await expect.poll(enter, { timeout: WITHIN_MS, interval: 1_000 }).toBe(true);
      typed.push({ from, to: Date.now() });
      return from;
    };

    const second = await type('Then the second part.');
    await phase('working', null);
    writeFileSync(join(project_dir, 'go'), '');
    const asked: Span[] = [];
    if (isClaude) {
      const waits = await phase('waiting', 'asks to run: touch asked');
      // Its notice comes some seconds after its question.
      const notices = async () => count((await told(one, uid, began)).buckets, 'notify');
      await expect.poll(notices, { timeout: WITHIN_MS }).toBe(1);
      asked.push({ from: waits.runtime!.phase_since!, to: Date.now() });
      expect((await one.row('told')).runtime).toMatchObject({
        phase: 'waiting',
        said: 'asks to run: touch asked',
      });
      await keys('Enter');
    }
    await replied(second, 'The second part is done.');
    stub.refuse({ status: 400, headers: {}, body: FAILURE });
    await type('Now fail.');
    const failed = await phase('attention', /not like this/, FACTS[name].failure);
    expect(failed.runtime!.phase_since).toBeGreaterThanOrEqual(typed[1]!.from);
    await one.svc('kill', 'told', '--yes');

    // The last event of a program is told while it ends.
    const own = async () => count((await told(one, uid, began)).buckets, 'agent');
    await expect.poll(own, { timeout: WITHIN_MS }).toBe(FACTS[name].agent);
    const after = await told(one, uid, began);
    expect(new Set(after.buckets.map(({ s, cwd }) => `${s} ${cwd}`))).toEqual(
      new Set([`${session_uuid} ${project_dir}`]),
    );
    liesIn(after.buckets, 'attention', typed);
    liesIn(after.buckets, 'reply', replies);
    liesIn(after.buckets, 'notify', asked);
    const sha = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: project_dir, encoding: 'utf8' }).trim();
    const worker = { session: session_uuid, mux: mux_session, cwd: project_dir };
    expect(after.commits).toEqual([
      {
        ...worker,
        at: expect.any(Number),
        kind: 'commit',
        sha,
        subject: 'Write the report',
        repo: project_dir,
        files: 1,
        insertions: 1,
        deletions: 0,
      },
    ]);
    const files = [join(project_dir, 'report.md')];
    const sent = { ...worker, at: expect.any(Number), harness: name, files, fiber: 'told', uid };
    expect(after.all).toEqual(SENDS[name].map(() => sent));
    expect(after.trail).toEqual(after.all);
    expect(after.sessions.map(({ kind, session, reason }) => [kind, session, reason])).toEqual([
      ...(name === 'codex'
        ? [
            ['dispatch', null, undefined],
            ['learned', session_uuid, undefined],
          ]
        : [['dispatch', session_uuid, undefined]]),
      ['ended', session_uuid, 'kill'],
    ]);

    const log = JSON.parse(await one.svc('log', 'told', '--json')) as {
      entries: { kind: string }[];
      spend: { total: { output: number } | null; unknown: number };
    };
    expect(new Set(log.entries.map(({ kind }) => kind))).toEqual(
      new Set(['dispatch', 'prompts', 'commit', ...SENDS[name].map(() => 'sent'), 'ended']),
    );
    expect(log.spend.unknown).toBe(0);
    expect(log.spend.total!.output).toBeGreaterThan(0);
    const page = await one.svc('log', 'told');
    const rows = page.split('\n').map((line) => line.split('\t'));
    expect(rows.flatMap(([, what, words]) => (what === 'you' ? [words] : []))).toEqual([
      'Then the second part.',
      'Now fail.',
    ]);
  });
});
