import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import type { Destination, Routing } from '../../src/http/routing.ts';
import { describeApi } from '../../src/routes/api-description.ts';
import { describedRows } from '../../src/routes/described-rows.ts';
import { createRoute, decideRoute } from '../../src/routes/routing.ts';
import { InProcessFleet } from './in-process-callers.ts';

const HOLDER: Routing = { param: 'host' };

/** The pattern that the contract names for each endpoint; those of this daemon alone have none there. */
const CONTRACT: readonly (readonly [clause: string, endpoint: string, routing: Routing])[] = [
  ['WPL-1', 'POST /api/v1/dispatch', 'owner'],
  ['WPL-10', 'POST /api/v1/deliver', 'owner'],
  ['RPL-15', 'GET /api/v1/peers', 'fan-in'],
  ['WPL-23', 'POST /api/v1/messages', 'host'],
  ['WPL-24', 'POST /api/v1/messages/files', 'host'],
  ['WPL-2', 'POST /api/v1/transition', 'owner'],
  ['WPL-3', 'POST /api/v1/lifecycle', 'owner'],
  ['WPL-4', 'POST /api/v1/kill', 'owner'],
  ['WPL-5', 'POST /api/v1/claim', 'owner'],
  ['WPL-6', 'POST /api/v1/capture', 'owner'],
  // Its recording is begun by the daemon that is asked; what is delivered goes to the owner.
  ['WPL-7', 'POST /api/v1/meeting/join', 'owner'],
  ['WPL-8', 'POST /api/v1/meeting/stop', 'local'],
  ['WPL-9', 'POST /api/v1/attachments', 'owner'],
  ['WPL-11', 'POST /api/v1/fiber-edit', 'owner'],
  ['WPL-12', 'POST /api/v1/fiber-nest', 'owner'],
  ['WPL-13', 'POST /api/v1/fiber/create', 'owner'],
  ['WPL-14', 'POST /api/v1/fiber-stores', 'host'],
  ['WPL-15', 'POST /api/v1/projects', 'host'],
  ['WPL-16', 'POST /api/v1/config/:id', 'host'],
  ['WPL-17', 'POST /api/v1/agents/effort', 'host'],
  ['WPL-18', 'POST /api/v1/fleet/remotes', 'host'],
  ['WPL-19', 'POST /api/v1/tunnels', 'host'],
  ['WPL-20', 'POST /api/v1/choose-folder', 'host'],
  // A terminal is opened where the person is.
  ['WPL-21', 'POST /api/v1/attach', 'local'],
  ['WPL-22', 'POST /api/v1/sessions/resume', 'local'],
  ['WPL-25', 'POST /api/v1/quarantine/release', 'host'],
  ['WPL-26', 'POST /api/v1/remotes/:name/reset', 'host'],
  ['RPL-1', 'GET /api/v1/fibers', 'local'],
  ['RPL-2', 'GET /api/v1/fibers/composite', 'fan-in'],
  ['RPL-3', 'GET /api/v1/fibers/*id', 'owner'],
  ['RPL-4', 'GET /api/v1/search', 'local'],
  ['RPL-5', 'GET /api/v1/agents', 'host'],
  ['RPL-6', 'GET /api/v1/fiber-stores', 'fan-in'],
  ['RPL-7', 'GET /api/v1/config', 'host'],
  ['RPL-8', 'GET /api/v1/config/:id', 'host'],
  ['RPL-9', 'GET /api/v1/fleet', 'host'],
  ['RPL-10', 'GET /api/v1/file', 'owner'],
  ['RPL-11', 'GET /api/v1/file-info', 'owner'],
  ['RPL-12', 'GET /api/v1/transcript', HOLDER],
  ['RPL-13', 'GET /api/v1/transcript/raw', HOLDER],
  ['RPL-14', 'GET /api/v1/sessions/links', HOLDER],
  ['RPL-16', 'GET /api/v1/meeting', 'host'],
  ['RPL-17', 'GET /api/v1/meeting/audio', 'local'],
  ['RPL-18', 'GET /api/v1/version', 'local'],
  ['RPL-19', 'GET /api/v1/state', 'local'],
  ['RPL-20', 'GET /api/v1/state/composite', 'fan-in'],
  ['TMP-1', 'GET /api/v1/activity', 'host-scoped'],
  ['TMP-2', 'GET /api/v1/sessions', 'host-scoped'],
  ['TMP-3', 'GET /api/v1/commits', 'host-scoped'],
  ['TMP-4', 'GET /api/v1/sent-files/all', 'host-scoped'],
  ['TMP-5', 'GET /api/v1/sent-files', 'owner'],
  ['TMP-6', 'GET /api/v1/activity/composite', 'fan-in'],
  ['TMP-6', 'GET /api/v1/sessions/composite', 'fan-in'],
  ['TMP-6', 'GET /api/v1/commits/composite', 'fan-in'],
  ['TMP-6', 'GET /api/v1/sent-files/all/composite', 'fan-in'],
];

/** Endpoints that the contract does not know. */
const OWN: Readonly<Record<string, Routing>> = {
  'POST /api/v1/fiber-stores/sweep': 'host',
  'GET /api/v1/why': 'owner',
  'GET /api/v1/fiber-life': 'owner',
  'GET /api/v1/uncommitted': 'owner',
  'GET /api/v1/commits/patch': 'host',
  'GET /api/v1/messages': 'owner',
  'POST /api/v1/brake': 'host',
  'POST /api/v1/brake/release': 'host',
  'POST /api/v1/incidents/resume': 'host',
  'POST /api/v1/incidents/dismiss': 'host',
  'GET /api/v1/doctor': 'local',
  'GET /api/v1/live': 'local',
  'GET /api/v1/terminal': 'host',
  'POST /api/v1/meeting/mark': 'local',
  'GET /api/v1/moment': 'local',
  'GET /api/v1/transcript/words': { param: 'host' },
  'GET /api/v1/spend': 'owner',
  'GET /api/v1/openapi.json': 'local',
  'GET /metrics': 'local',
  'GET /': 'local',
  'GET /assets/:name': 'local',
  'GET /manifest.webmanifest': 'local',
  'GET /sw.js': 'local',
  'GET /phone': 'local',
};

const rows = describedRows();
const routingOf = (endpoint: string) =>
  rows.find(({ method, path }) => `${method} ${path}` === endpoint)?.routing;

describe('the routing of a row', () => {
  it.each(CONTRACT)('[RTE-1] [%s] of %s is the pattern of the contract', (_, endpoint, routing) => {
    expect(routingOf(endpoint)).toEqual(routing);
  });

  it('[RTE-1] is declared for every endpoint', () => {
    const stated = [...CONTRACT.map(([, endpoint]) => endpoint), ...Object.keys(OWN)];
    expect(rows.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(stated.toSorted());
    for (const [endpoint, routing] of Object.entries(OWN)) expect(routingOf(endpoint)).toEqual(routing);
  });

  it('[RTE-1] [END-1] goes by a field that the request has, and is told in the description of the API', async () => {
    const { paths } = describeApi(rows, '');
    for (const { method, path, routing } of rows) {
      const operation = paths[path.replaceAll(/[:*](\w+)/g, '{$1}')]![method.toLowerCase()]!;
      expect(operation['x-routing'], path).toEqual(routing);
      const inputs =
        method === 'GET'
          ? operation.parameters.map(({ name }) => name)
          : JSON.stringify(operation.requestBody).match(/(?<=")origin(?=":\{)/g);
      const field = typeof routing === 'object' ? routing.param : 'origin';
      if (routing === 'local' || routing === 'fan-in') expect(inputs ?? [], path).not.toContain('origin');
      else expect(inputs, path).toContain(field);
    }
  });
});

describe('where a request is answered', () => {
  const remotesOf = (...names: string[]) =>
    new Map(names.map((name) => [name, { name, address: { url: `http://${name}` }, problem: null }]));
  const known = { host: 'host-a', remotes: remotesOf('host-b', 'host-c'), silent: new Map(), now: 100_000 };
  const LOCAL = { kind: 'local' };
  const remote = (host: string, url: string | null = `http://${host}`) => ({
    kind: 'remote',
    host,
    address: url === null ? null : { url },
  });
  const refused = (code: string) => ({ kind: 'refused', code, message: expect.any(String) });
  const unread = refused('component_unavailable');
  const unknown = refused('unknown_host');

  it.each([
    // clause, routing, no name, own name, a remote, a stranger, a remote before the fleet has spoken
    ['RTE-6', 'local', LOCAL, LOCAL, LOCAL, LOCAL, LOCAL],
    ['RTE-7', 'fan-in', LOCAL, LOCAL, LOCAL, LOCAL, LOCAL],
    ['RTE-2', 'owner', LOCAL, LOCAL, remote('host-b'), LOCAL, unread],
    ['RTE-3', 'host', LOCAL, LOCAL, remote('host-b'), unknown, unread],
    ['RTE-5', 'host-scoped', LOCAL, LOCAL, refused('not_forwarded'), unknown, unread],
    ['RTE-4', HOLDER, LOCAL, LOCAL, remote('host-b'), remote('host-z', null), remote('host-b', null)],
  ] as const)('[%s] for %j', (_, routing, nobody, itself, other, stranger, unpublished) => {
    const decide = (named: string | undefined) => decideRoute(routing, named, [], known);
    expect([decide(undefined), decide('host-a'), decide('host-b'), decide('host-z')]).toMatchObject([
      nobody,
      itself,
      other,
      stranger,
    ]);
    expect(decideRoute(routing, 'host-b', [], { ...known, remotes: null })).toMatchObject(unpublished);
  });

  it.each([
    ['owner', 'host-b', ['host-x'], remote('host-b')],
    ['owner', 'host-z', ['host-x'], refused('misdirected')],
    ['host', 'host-z', ['host-x'], refused('misdirected')],
    [HOLDER, 'host-z', ['host-x'], refused('misdirected')],
    ['host-scoped', 'host-z', ['host-x'], refused('misdirected')],
    ['owner', 'host-a', ['host-x'], LOCAL],
    ['owner', 'host-a', ['host-a', 'host-x'], LOCAL],
    ['owner', 'host-b', ['host-a', 'host-x'], refused('forwarding_loop')],
    ['host', 'host-b', ['1', '2', '3', '4', '5', '6', '7', '8'], refused('forwarding_loop')],
    ['host-scoped', 'host-b', ['host-x'], refused('not_forwarded')],
    ['local', 'host-z', ['host-x'], LOCAL],
  ] as const)('[RTE-2] [RTE-3] for %j, %s and the hops %j', (routing, named, hops, expected) => {
    expect(decideRoute(routing, named, hops, known)).toMatchObject(expected);
  });

  it('[RTE-2] names every host of a loop, and the file to fix', () => {
    expect(decideRoute('owner', 'host-b', ['host-a', 'host-x'], known)).toMatchObject({
      message: expect.stringMatching(/host-a to host-x to host-a.*remotes\.json/),
      details: { origin: 'host-b', path: ['host-a', 'host-x', 'host-a'] },
    });
  });

  it('[AUT-4] says what is wrong with an entry that leads nowhere', () => {
    const broken = {
      name: 'host-b',
      address: null,
      problem: 'the entry of host-b names neither a url nor a port',
    };
    const remotes = new Map([['host-b', broken]]);
    expect(decideRoute('owner', 'host-b', [], { ...known, remotes })).toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('neither a url nor a port; fix it with: svc remotes add host-b'),
    });
  });

  it('[RTE-2] [RTE-3] is this host for its own name, and never one that is not configured', () => {
    const routings = fc.constantFrom<Routing>('local', 'owner', 'host', 'host-scoped', 'fan-in');
    fc.assert(
      fc.property(
        routings,
        fc.string(),
        fc.string(),
        fc.array(fc.string()),
        (routing, named, host, names) => {
          const remotes = remotesOf(...names);
          expect(decideRoute(routing, host, [], { ...known, host, remotes })).toEqual(LOCAL);
          const destination = decideRoute(routing, named, [], { ...known, host, remotes });
          if (destination.kind === 'remote')
            expect([destination.host, remotes.has(named)]).toEqual([named, true]);
        },
      ),
    );
  });

  it('[RTE-3] refuses an invalid host name', () => {
    const long = 'x'.repeat(4_097);
    expect(decideRoute('host', long, [], known)).toMatchObject(refused('invalid_request'));
  });

  const silence = {
    name: 'host-b',
    code: 'remote_unreachable' as const,
    reason: 'host-b does not answer at host-b: refused.',
    last_ok_at: 62_000,
  };

  it('[BRK-1] refuses at once what is for a host whose breaker is tripped, with how long it is silent and why', () => {
    const silent = new Map([['host-b', silence]]);
    const sentence = `host-b has not answered for 38 s; another attempt runs now. Nothing was sent. ${silence.reason}`;
    for (const routing of ['owner', 'host'] as const)
      expect(decideRoute(routing, 'host-b', [], { ...known, silent })).toEqual({
        ...{ kind: 'refused', code: 'remote_unreachable', message: sentence, details: { origin: 'host-b' } },
      });
    expect(decideRoute('owner', 'host-b', [], { ...known, silent }, false)).toMatchObject({
      message: `host-b has not answered for 38 s; another attempt runs now. ${silence.reason}`,
    });
    const never = new Map([['host-b', { ...silence, last_ok_at: null }]]);
    expect(decideRoute('owner', 'host-b', [], { ...known, silent: never })).toMatchObject({
      message: expect.stringContaining('host-b has not answered yet; another attempt'),
    });
    // Who asks for a transcript is told of it in the answer.
    expect(decideRoute(HOLDER, 'host-b', [], { ...known, silent })).toMatchObject(remote('host-b'));
    expect(decideRoute('owner', 'host-c', [], { ...known, silent })).toMatchObject(remote('host-c'));
  });

  it('refuses what is for a host that is not of its pinned build, by that code, and has it asked again', () => {
    const changed = { ...silence, code: 'build_changed' as const, reason: 'host-b is of build "x".' };
    const silent = new Map([['host-b', changed]]);
    expect(decideRoute('owner', 'host-b', [], { ...known, silent })).toEqual({
      ...{ kind: 'refused', code: 'build_changed', details: { origin: 'host-b' } },
      message: 'Nothing was sent. host-b is of build "x".',
    });
    expect(decideRoute('owner', 'host-b', [], { ...known, silent }, false)).toMatchObject({
      message: 'host-b is of build "x".',
    });
    const fleet = new InProcessFleet();
    const route = createRoute(fleet, 'host-a', new FakeClock());
    fleet.publish({ 'host-b': 'http://host-b' });
    fleet.silence([changed]);
    expect(route('host', 'host-b', [])).toMatchObject(refused('build_changed'));
    expect(fleet.asked).toEqual([{ name: 'ask_again', input: { name: 'host-b' } }]);
  });

  it('[BRK-1] tells who waits when the host is silent, and has it asked again when it is wanted', () => {
    const fleet = new InProcessFleet();
    const route = createRoute(fleet, 'host-a', new FakeClock());
    fleet.publish({ 'host-b': 'http://host-b' });
    const waiting = route('owner', 'host-b', []);
    const silentOf = (one: Destination) => (one.kind === 'remote' ? one.silent : undefined);
    expect(silentOf(waiting)?.aborted).toBe(false);
    fleet.silence([silence]);
    expect(silentOf(waiting)?.aborted).toBe(true);
    expect(route('owner', 'host-b', [])).toMatchObject(refused('remote_unreachable'));
    expect(fleet.asked).toEqual([{ name: 'ask_again', input: { name: 'host-b' } }]);
    expect(route('owner', 'host-b', [], false)).toMatchObject({ message: expect.not.stringMatching(/sent/) });
    fleet.silence([]);
    expect(silentOf(route('owner', 'host-b', []))?.aborted).toBe(false);
  });

  it('keeps nothing for a name that is no remote, nor for one that is none any more', () => {
    const fleet = new InProcessFleet();
    const route = createRoute(fleet, 'host-a', new FakeClock());
    fleet.publish({ 'host-b': 'http://host-b' });
    expect(route({ param: 'host' }, 'any text', [])).toEqual({
      ...{ kind: 'remote', host: 'any text', address: null },
    });
    const signal = () => {
      const to = route('owner', 'host-b', []);
      return to.kind === 'remote' ? to.silent : undefined;
    };
    const first = signal();
    expect(signal()).toBe(first);
    fleet.publish({});
    fleet.publish({ 'host-b': 'http://host-b' });
    expect(signal()).not.toBe(first);
  });

  it('uses the table that the fleet published last', () => {
    const fleet = new InProcessFleet();
    const route = createRoute(fleet, 'host-a', new FakeClock());
    expect(route('owner', 'host-b', [])).toMatchObject(unread);
    fleet.publish({ 'host-b': 'http://host-b' });
    expect(route('owner', 'host-b', [])).toMatchObject(remote('host-b'));
    fleet.publish({});
    expect(route('owner', 'host-b', [])).toEqual(LOCAL);
  });
});
