import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import type { Remote } from '../../src/contract/threads/fleet.ts';
import { Contacts } from '../../src/fleet/contacts.ts';
import { PresentRemotes } from '../../src/fleet/present-remotes.ts';
import type { DiscoveredHost } from '../../src/tailnet/tailnet.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise<void>((done) => server.close(() => done()));
  }
});

type Answers = Record<string, unknown>;
/** The daemon of a host: what it answers, by path; what it was asked goes into `asked`. */
async function host(name: string, answers: Answers, asked: string[] = []): Promise<Remote> {
  return served(name, (url, response) => {
    asked.push(url);
    const body = answers[url];
    response.writeHead(body === undefined ? 404 : 200, { 'svc-host': name });
    response.end(JSON.stringify(body ?? { error: 'not_found', message: 'there is no such endpoint' }));
  });
}

async function served(
  name: string,
  answer: (url: string, response: ServerResponse) => void,
): Promise<Remote> {
  const server = createServer((request, response) => answer(request.url ?? '', response));
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return { name, address: { url: `http://me:hunter2@127.0.0.1:${port}` }, problem: null };
}

function present(
  remotes: Remote[],
  entries: Record<string, unknown>[] = [],
  discovered: DiscoveredHost[] = [],
) {
  return new PresentRemotes({
    host: 'host-a',
    remotes: () => remotes,
    entries: () => entries as { name: string }[],
    discovered: () => discovered,
    contacts: new Contacts(CLOCK, () => undefined),
    standings: () => STANDINGS,
    answer_ms: 1_000,
    clock: CLOCK,
  });
}

/** It stands still. */
const CLOCK = new FakeClock();
const NOW = CLOCK.now();

/** How fresh the copy of one feed is. */
const FEED = {
  state: 'stale',
  last_ok_at: 5,
  error: { code: 'answer_unreadable', message: 'its answer is not JSON' },
} as const;
const STANDINGS = [{ name: 'host-b', build: null, breaker: 'tripped', ...FEED } as const];

const NO_ADDRESS: Remote = { name: 'host-z', address: null, problem: 'the entry of host-z names nothing' };
const session = (of: string, more: object = {}) => ({
  ...{ address: `svc://${of}/claude/s-1`, fiber: 'work', fiber_uid: null },
  ...{ surface: 'cli', agent: 'claude-sonnet', phase: 'idle', ...more },
});

describe('the sessions of the remotes', () => {
  const PEERS = '/api/v1/peers?local=true';

  it('[RPL-15] are each asked for once, and one that cannot be listed is a gap', async () => {
    const asked: string[] = [];
    const own_gap = { host: 'host-c', error: 'component_unavailable' };
    const remotes = await Promise.all([
      host('host-b', { [PEERS]: { host: 'host-b', sessions: [session('host-b')], gaps: [] } }, asked),
      host('host-c', {
        [PEERS]: { host: 'host-c', sessions: [], gaps: [own_gap, { host: 'x', error: 'y' }] },
      }),
      host('old', {}),
      host('malformed', { [PEERS]: { host: 'malformed', sessions: [{}], gaps: [] } }),
      host('liar', { [PEERS]: { host: 'liar', sessions: [session('host-b')], gaps: [] } }),
      served('other', (_, response) => response.writeHead(200, { 'svc-host': 'host-b' }).end('{}')),
      served('silent', () => undefined),
    ]);
    const { sessions, gaps } = await present([...remotes, NO_ADDRESS]).peers();
    expect(sessions).toEqual([session('host-b')]);
    expect(asked).toEqual([PEERS]);
    expect(gaps.map(({ host: of, error }) => [of, error])).toEqual([
      ['host-c', 'component_unavailable'],
      ['old', 'not_found'],
      ['malformed', 'answer_unreadable'],
      ['liar', 'answer_unreadable'],
      ['other', 'misdirected'],
      ['silent', 'remote_unreachable'],
      ['host-z', 'invalid_config'],
    ]);
    expect(JSON.stringify(gaps)).not.toContain('hunter2');
  });
});

describe('the rows of the fleet', () => {
  const VERSION = {
    ...{ version: '0.1.0', git_short_sha: 'abc1234', booted_at: '2026-01-05T09:00:00.000Z' },
    ...{ ready: true, host_class: 'exposed', more: 1 },
  };
  const running = ['working', 'waiting', 'attention', 'a phase of a newer build'].map((phase) => ({ phase }));

  it('[REC-7] have what was found in the private network behind the remotes, without a question to it', async () => {
    const found = (host: string): DiscoveredHost => ({
      node: { name: host, dns_name: '', address: '100.64.0.2' },
      told: { ...VERSION, host_class: 'exposed', host },
      ...{ url: 'http://100.64.0.2:4000', seen_at: 5 },
    });
    const { host_class, more: _more, ...build } = VERSION;
    const rows = await present([NO_ADDRESS], [], [found('host-z'), found('host-b')]).rows();
    expect(rows.map(({ name, source }) => [name, source])).toEqual([
      ['host-z', 'file'],
      ['host-b', 'discovered'],
    ]);
    expect(rows[1]).toMatchObject({
      ...{ address: '100.64.0.2:4000', display: null, ssh: null, build, host_class, workers: null },
      reach: { state: 'answers', since: 5, last_ok_at: 5, error: null },
    });
  });

  it('[RPL-9] [REC-7] have the reach, the build and the workers of each configured remote', async () => {
    const remotes = await Promise.all([
      host('host-b', {
        '/api/v1/version': VERSION,
        '/api/v1/state': { generated_at: NOW + 3_600_000, running },
      }),
      host('starts', { '/api/v1/version': { ...VERSION, ready: false } }),
      served('silent', () => undefined),
    ]);
    const entries = [
      { name: 'host-b', display: 'Harbor', ssh: 'b-login' },
      { name: 'silent', display: 7 },
    ];
    const rows = await present([...remotes, NO_ADDRESS], entries).rows();
    const known = { source: 'file', address: expect.stringMatching(/^127\.0\.0\.1:\d+$/) };
    const unknown = { build: null, host_class: null, clock_ahead_ms: null, workers: null };
    const { host_class, more: _more, ...build } = VERSION;
    expect(rows).toEqual([
      {
        ...known,
        name: 'host-b',
        display: 'Harbor',
        ssh: 'b-login',
        reach: { state: 'answers', since: expect.any(Number), last_ok_at: expect.any(Number), error: null },
        build,
        host_class,
        clock_ahead_ms: 3_600_000,
        workers: { running: 4, needs_you: 2 },
        feed: FEED,
      },
      expect.objectContaining({
        name: 'starts',
        build: { ...build, ready: false },
        workers: null,
        feed: null,
      }),
      expect.objectContaining({
        ...known,
        ...unknown,
        name: 'silent',
        display: null,
        reach: expect.objectContaining({
          state: 'no_answer',
          last_ok_at: null,
          error: { code: 'remote_unreachable', message: expect.stringContaining('within 1 s') },
        }),
      }),
      expect.objectContaining({
        ...unknown,
        name: 'host-z',
        address: null,
        reach: expect.objectContaining({
          state: 'no_address',
          error: { code: 'invalid_config', message: expect.stringContaining('svc remotes add host-z') },
        }),
      }),
    ]);
  });

  it('have answered when their feed did, where they answer no more', async () => {
    const [row] = await present([await served('host-b', (_, response) => response.destroy())]).rows();
    expect(row?.reach).toMatchObject({ state: 'no_answer', last_ok_at: FEED.last_ok_at });
  });
});
