import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isCoded } from '../../../src/base/errors.ts';
import { LIFECYCLE_ACTIONS, TRANSITION_TARGETS } from '../../../src/contract/http/lifecycle.ts';
import type { Rehearsal } from '../../../src/contract/http/rehearsal.ts';
import { pullBrake, releaseBrake, releaseHeld } from '../../../src/dispatch/requests/brake-requests.ts';
import { LifecycleCalls } from '../../../src/dispatch/requests/lifecycle-calls.ts';
import { openTerminal } from '../../../src/dispatch/requests/open-terminal.ts';
import { dismissIncident, resumeIncident } from '../../../src/dispatch/requests/resume-incident.ts';
import { perform } from '../../../src/dispatch/world/write.ts';
import { unifiedDiff } from '../../../src/fibers/text-diff.ts';
import { STORE } from '../world/fake-documents.ts';
import { type Daemon, FakeWorld, HOST, LEARNING } from '../world/fake-world.ts';

/** What the world looks like when the request comes. */
const situation = fc.record({
  standing: fc.boolean(),
  app: fc.boolean(),
  status: fc.constantFrom('open', 'active', 'closed'),
  at_work: fc.boolean(),
  killed: fc.boolean(),
  braked: fc.boolean(),
  server_lost: fc.boolean(),
  folder_gone: fc.boolean(),
  broken: fc.boolean(),
});
type Situation = typeof situation extends fc.Arbitrary<infer S> ? S : never;
type Asked = { dry_run?: boolean };
type Send = (asked: Asked) => Promise<unknown>;

const CLAIM = { url: 'http://127.0.0.1:1/api/v1/claim', socket: null };
const SESSION = '0198c0de-0000-4000-8000-000000000001';

/** Every write of the dispatcher, as its call takes it. */
const WRITES: Record<string, (daemon: Daemon, calls: LifecycleCalls, thread_id: string) => Send> = {
  dispatch:
    ({ dispatcher }) =>
    (dry) =>
      dispatcher.dispatch({ fiber_id: 'a', ...dry }),
  'dispatch with force':
    ({ dispatcher }) =>
    (dry) =>
      dispatcher.dispatch({ fiber_id: 'a', force: true, user_message: 'Hurry', ...dry }),
  kill:
    ({ dispatcher }) =>
    (dry) =>
      perform(dispatcher.kills, { fiber_id: 'a', ...dry }),
  claim:
    ({ dispatcher }) =>
    (dry) =>
      dispatcher.surfaces.cli.claims.claim({ fiber_id: 'a', mux_session: 'desk', ...dry }),
  'claim in the app':
    ({ dispatcher }, _calls, session_uuid) =>
    (dry) =>
      dispatcher.surfaces.app.claims.claim({ fiber_id: 'a', session_uuid, ...dry }),
  capture:
    ({ dispatcher }) =>
    (dry) =>
      dispatcher.surfaces.cli.captures.capture({
        prompt: 'x',
        project_dir: '/srv/dev',
        claim: CLAIM,
        store: STORE,
        ...dry,
      }),
  'capture in the app':
    ({ dispatcher }) =>
    (dry) =>
      dispatcher.surfaces.app.captures.capture({
        prompt: 'x',
        project_dir: '/srv/dev',
        claim: CLAIM,
        store: STORE,
        ...dry,
      }),
  'past session':
    ({ dispatcher }) =>
    (dry) =>
      dispatcher.resumeSession({ session: SESSION, lines: [LINE], ...dry }),
  'terminal of a past session':
    ({ world, dispatcher }) =>
    (dry) =>
      perform(openTerminal(world, dispatcher.pastSessions), {
        ...{ session: SESSION, lines: [LINE], host: HOST, ssh: null, ...dry },
      }),
  'terminal of a session':
    ({ world, dispatcher }) =>
    (dry) =>
      perform(openTerminal(world, dispatcher.pastSessions), {
        ...{ mux_session: 'desk', lines: [], host: HOST, ssh: null, ...dry },
      }),
  'brake pulled': (daemon) => (dry) => pullBrake(daemon, { note: 'stop', kill: true, ...dry }),
  'brake released': (daemon) => (dry) => releaseBrake(daemon, { held: true, ...dry }),
  'holds released':
    ({ dispatcher }) =>
    (dry) =>
      releaseHeld(dispatcher, dry),
  'incident resumed': (daemon) => (dry) => resumeIncident(daemon, dry),
  'incident dismissed':
    ({ memory }) =>
    (dry) =>
      dismissIncident(memory, dry),
  ...Object.fromEntries(
    LIFECYCLE_ACTIONS.map((action) => {
      const fields: Record<string, object> = {
        repeat: { schedule: '0 9 * * *', tz: 'UTC' },
        reshape: { kind: 'pinned' },
        pause: { kill: true },
        close: { kill: true, outcome: 'done' },
        'set-outcome': { outcome: 'so far' },
        'set-agent': { agent: 'demo' },
        'set-model': { model: 'demo', agent: 'demo', effort: 'low' },
      };
      const asked = { action, fiber: 'a', ...fields[action] } as Parameters<LifecycleCalls['lifecycle']>[0];
      return [
        action,
        (_: Daemon, calls: LifecycleCalls) => (dry: Asked) => calls.lifecycle({ ...asked, ...dry }),
      ];
    }),
  ),
  ...Object.fromEntries(
    TRANSITION_TARGETS.map((target) => [
      `move to ${target}`,
      (_: Daemon, calls: LifecycleCalls) => (dry: Asked) =>
        calls.transition({ fiber_id: 'a', target, ...dry }),
    ]),
  ),
};
const LINE = {
  ...{ fiber: 'a', uid: 'U', session: SESSION, thread_id: null, harness: 'codex' as const },
  ...{ agent: 'codex', host: HOST, mux: 'a-U-svc', at: 1, kind: 'dispatch' as const },
};

/** Everything that a write can leave behind: documents, files with their bytes and times, memory, and the machine. */
function traces(world: FakeWorld, daemon: Daemon) {
  const files = readdirSync(world.data_dir, { recursive: true, encoding: 'utf8' }).sort();
  const { memory } = daemon;
  return {
    texts: [...world.documents.files],
    writes: world.documents.writes,
    on_disk: files.map((name) => {
      const stat = statSync(join(world.data_dir, name));
      return [name, stat.mtimeMs, stat.isFile() ? readFileSync(join(world.data_dir, name), 'utf8') : null];
    }),
    machine: [world.machine.creates.length, [...world.machine.kills], world.terminals.length],
    ledger: world.ledger.length,
    conversations: structuredClone(world.app.conversations),
    state: JSON.stringify(daemon.state()),
    runs: structuredClone(memory.runs.all()),
    starting: [...memory.starting],
    brake: structuredClone(memory.brake.pulled),
    incidents: structuredClone(memory.incidents.all()),
    held: daemon.dispatcher.rounds.pending().length,
    refused: daemon.row('a')?.blocked ?? null,
  };
}

async function prepare(world: FakeWorld, { standing, app, ...given }: Situation): Promise<Daemon> {
  world.agents.push({ ...LEARNING, id: 'codex' });
  world.past.set(SESSION, { kind: 'found', path: '/t.jsonl', cwd: '/srv/began' });
  const daemon = world.boot({ released: true });
  const kind: Record<string, string> = standing
    ? { kind: 'standing', schedule: '"0 8 * * *"', tz: 'UTC' }
    : {};
  const status = given.at_work ? 'active' : given.status;
  const closed: Record<string, string> =
    status === 'closed' ? { 'closed-at': '2026-01-02T00:00:00.000Z' } : {};
  world.fiber('a', { ...kind, ...(app ? { surface: 'app', agent: 'codex' } : {}) }, { status, ...closed });
  world.machine.startByHand('desk', ['/opt/demo']);
  const round = () => world.run(daemon.round());
  await world.run(daemon.dispatcher.reconcile());
  if (given.at_work) await world.run(daemon.dispatcher.dispatch({ fiber_id: 'a' }));
  if (given.killed && given.at_work) await world.run(daemon.dispatcher.kills.kill('a'));
  if (given.server_lost) {
    world.clock.advance(60_000);
    world.machine.loseServer({ told: true });
    for (let turn = 0; turn < 3; turn += 1) await round();
  }
  // What a fiber that was armed comes to by itself later is not part of the write.
  daemon.dispatcher.rounds.stop();
  if (given.folder_gone) world.directories.set('/srv/dev', { kind: 'missing' });
  if (given.broken) {
    for (const path of world.documents.files.keys())
      world.documents.edit(path, (text) => text.replace('svc:', 'svc: [\nx: }'));
    world.documents.list();
  }
  if (given.braked) daemon.memory.brake.pull('test', world.clock.now());
  return daemon;
}

/** What a request answers, and its refusal as a value. */
async function outcomeOf(sent: Promise<unknown>): Promise<object> {
  try {
    return (await sent) as object;
  } catch (error) {
    if (!isCoded(error)) throw error;
    return { code: error.code, message: error.message };
  }
}

/** A refusal may leave its own row; and who asks for a start has said that nothing holds the fiber, also where it is refused. */
function withoutRefusals({ refused: _, held: __, state, ...rest }: ReturnType<typeof traces>) {
  return { ...rest, state: { ...JSON.parse(state), blocked: [], pending_launch: [] } };
}

const timeless = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T');

it.each(Object.keys(WRITES))(
  '[WPL-1] a dry run of "%s" leaves everything as it is, and the real request then changes what it showed',
  async (name) => {
    await fc.assert(
      fc.asyncProperty(situation, async (given) => {
        const world = new FakeWorld();
        try {
          const daemon = await prepare(world, given);
          const calls = new LifecycleCalls({
            world: daemon.world,
            memory: daemon.memory,
            dispatcher: daemon.dispatcher,
            look: (reference) => world.documents.index.get(reference),
            agents: () => ({
              agents: world.agents,
              names: { demo: 'demo', codex: 'codex' },
              default_id: 'demo',
              problem: null,
            }),
            cli: null,
            onMoved: () => {},
          });
          const { thread_id } = world.app.add({ phase: 'working' });
          const send = WRITES[name]!(daemon, calls, thread_id);
          // Both requests mint the same ids, so that what they write differs in moments alone.
          const [ulid, uuid] = [world.ulid(), '00000000-0000-4000-8000-000000000001'];
          daemon.world.newUlid = () => ulid;
          daemon.world.newUuid = () => uuid;
          const before = traces(world, daemon);
          const shown = await outcomeOf(world.run(send({ dry_run: true })));
          expect(traces(world, daemon)).toEqual(before);

          const answer = await outcomeOf(world.run(send({})));
          if (!('dry_run' in shown)) {
            expect(answer).toEqual(shown);
            expect(withoutRefusals(traces(world, daemon))).toEqual(withoutRefusals(before));
            return;
          }
          const { documents, steps, command } = shown as Rehearsal;
          const diffs = [...documents, ...steps.flatMap((step) => step.documents)];
          const conversation = world.app.conversations.at(-1)?.thread_id ?? '';
          const told = diffs.map(({ diff }) => diff.replaceAll('<conversation>', conversation)).join('');
          const made = before.texts.map(([path, text]) =>
            unifiedDiff(path.slice(1), text, world.documents.files.get(path)!),
          );
          // A brake names the workers that it ends, and not what the end of each writes.
          if (name !== 'brake pulled') expect(timeless(told)).toBe(timeless(made.join('')));
          const starts = [command, ...steps.map((step) => step.command)].filter(
            (one) => one !== null && one.cwd !== null,
          );
          expect(world.machine.creates.slice(before.machine[0] as number).map((one) => one.name)).toEqual(
            starts.map((one) => one!.mux_session),
          );
        } finally {
          world.dispose();
        }
      }),
      { numRuns: 15 },
    );
  },
);
