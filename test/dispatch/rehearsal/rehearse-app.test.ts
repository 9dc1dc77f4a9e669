import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SshTarget } from '../../../src/contract/http/attach.ts';
import type { Rehearsal } from '../../../src/contract/http/rehearsal.ts';
import { type AskedTerminal, openTerminal } from '../../../src/dispatch/requests/open-terminal.ts';
import { perform } from '../../../src/dispatch/world/write.ts';
import { unifiedDiff } from '../../../src/fibers/text-diff.ts';
import { STORE } from '../world/fake-documents.ts';
import { type Daemon, FakeWorld, LEARNING } from '../world/fake-world.ts';

let world: FakeWorld;
let daemon: Daemon;
beforeEach(async () => {
  world = new FakeWorld();
  world.agents.push({ ...LEARNING, id: 'codex' });
  daemon = world.boot({ released: true });
  await world.run(daemon.dispatcher.reconcile());
});
afterEach(() => world.dispose());

const APP = { surface: 'app', agent: 'learning' };
const untimed = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T');
const dispatch = (more = {}) => world.run(daemon.dispatcher.dispatch({ fiber_id: 'a', ...more }));
const rehearse = (more = {}) =>
  world.run(daemon.dispatcher.dispatch({ fiber_id: 'a', dry_run: true, ...more }));

/** Everything that may move; what the server is only asked is no effect. */
const traces = () => ({
  texts: [...world.documents.files],
  writes: world.documents.writes,
  ledger: world.ledger.length,
  on_disk: readdirSync(world.data_dir, { recursive: true }),
  state: JSON.stringify(daemon.state()),
  conversations: structuredClone(world.app.conversations),
  interrupts: [...world.app.interrupts],
  terminals: [...world.terminals],
});

/** Rehearses, and sees that nothing moved. */
async function shownBy<T>(asked: () => Promise<T>): Promise<T> {
  const untouched = traces();
  const shown = await asked();
  expect(traces()).toEqual(untouched);
  return shown;
}

function diffOf(path: string, before: string): string {
  return untimed(unifiedDiff(path.slice(1), before, world.documents.files.get(path)!));
}

describe('a rehearsed capture into an app conversation', () => {
  const request = {
    prompt: 'a thought',
    surface: 'app' as const,
    project_dir: '/srv/dev',
    claim: { url: 'http://127.0.0.1:1/api/v1/claim', socket: null },
    store: STORE,
  };

  it('[WPL-6] [CAP-5] begins none, and then the real one is sent the same words', async () => {
    const { captures: appCaptures } = daemon.dispatcher.surfaces.app;
    const shown = (await shownBy(() =>
      world.run(appCaptures.capture({ ...request, dry_run: true })),
    )) as Rehearsal;
    expect(shown).toMatchObject({ dry_run: true, command: null, documents: [] });
    const ulid = shown.minted.launch_id!;
    daemon.world.newUlid = () => ulid;
    const captured = await world.run(appCaptures.capture(request));
    const { thread_id, messages } = world.app.only();
    expect(captured).toMatchObject({ captured: true, thread_id });
    expect(messages.map(({ text }) => text)).toEqual([
      shown.prompt?.replaceAll(shown.minted.session_uuid!, thread_id),
    ]);
  });

  it('[CAP-7] [ERR-24] is refused in the words of the capture while the server is down', async () => {
    world.app.up = false;
    const { captures: appCaptures } = daemon.dispatcher.surfaces.app;
    const shown = await shownBy(() => world.run(appCaptures.capture({ ...request, dry_run: true })));
    expect(shown).toMatchObject({ captured: false, reason: 'app_server_unavailable' });
    expect(shown).toEqual(await world.run(appCaptures.capture(request)));
  });
});

describe('a rehearsed claim of an app conversation', () => {
  it('[WPL-5] shows the markers of one that a person began, and of the same claim once more nothing', async () => {
    const path = world.fiber('a', {}, { status: 'open' });
    const { thread_id } = world.app.add({ phase: 'working' });
    const { claims: appClaims } = daemon.dispatcher.surfaces.app;
    const mine = { fiber_id: 'a', surface: 'app' as const, session_uuid: thread_id };
    const before = world.documents.files.get(path)!;
    const shown = await shownBy(() => world.run(appClaims.claim({ ...mine, dry_run: true })));
    daemon.world.newUlid = () => shown.minted.run_id!;
    await world.run(appClaims.claim(mine));
    expect(untimed(shown.documents[0]?.diff ?? '')).toBe(diffOf(path, before));
    expect(shown.documents[0]?.diff).toContain(thread_id);
    expect(await shownBy(() => world.run(appClaims.claim({ ...mine, dry_run: true })))).toMatchObject({
      would: expect.stringContaining('write nothing'),
      documents: [],
    });
  });

  it.each([
    ['that is only stored', { loaded: false }, 'session_not_found'],
    ['that the server does not know', null, 'conversation_missing'],
  ])('[WPL-5] of one %s is refused as the claim itself is', async (_, change, code) => {
    world.fiber('a', {}, { status: 'open' });
    const session_uuid = change === null ? 'nobody' : world.app.add(change).thread_id;
    const mine = { fiber_id: 'a', surface: 'app' as const, session_uuid };
    const { claims: appClaims } = daemon.dispatcher.surfaces.app;
    await shownBy(() =>
      expect(world.run(appClaims.claim({ ...mine, dry_run: true }))).rejects.toMatchObject({ code }),
    );
    await expect(world.run(appClaims.claim(mine))).rejects.toMatchObject({ code });
  });
});

describe('a rehearsed dispatch of an app fiber', () => {
  it.each([
    ['that had no conversation yet', 'fresh', {}],
    ['that begins a new one in place of its own', 'fresh', { resume_mode: 'fresh', user_message: 'Hurry' }],
    ['that goes on with its own', 'resume', { user_message: 'Hurry' }],
  ] as const)(
    '[WPL-1] [WRK-4] %s shows what the server is then sent and the document has',
    async (_, mode, more) => {
      const path = world.fiber('a', APP);
      if ('user_message' in more) {
        await dispatch();
        await world.run(daemon.dispatcher.kills.kill('a'));
      }
      const before = world.documents.files.get(path)!;
      const known = world.app.conversations.map(({ thread_id }) => thread_id);
      const shown = (await shownBy(() => rehearse(more))) as Rehearsal;
      expect(shown.prompt?.includes('Mode: resume')).toBe(mode === 'resume');
      const { launch_id } = shown.minted;
      daemon.world.newUlid = () => launch_id!;
      expect(await dispatch(more)).toMatchObject({ dispatched: true, run_id: shown.minted.run_id });
      const begun = world.app.conversations.find(({ thread_id }) => !known.includes(thread_id));
      expect(begun === undefined).toBe(mode === 'resume');
      const { thread_id, messages } = begun ?? world.app.only();
      expect(messages.at(-1)?.text).toBe(shown.prompt);
      const told = shown.documents.map(({ diff }) => diff.replaceAll('<conversation>', thread_id)).join('');
      expect(untimed(told)).toBe(diffOf(path, before));
      expect(told).toContain(thread_id);
    },
  );
});

describe('a rehearsed dispatch of a reserved app conversation', () => {
  it.each([
    ['that nothing was said in', 'send', 'silent_and_undone', {}],
    ['that nothing was said in, with a message', 'send', 'silent_and_undone', { user_message: 'Hurry' }],
    ['that was not told to the daemon', 'start', 'silent_but_done', {}],
  ] as const)('[CAP-8] %s shows what going on with it sends and writes', async (_, what, fault, more) => {
    const path = world.fiber('a', APP);
    world.app.faults[what] = fault;
    if (fault === 'silent_but_done') world.app.faults.send = 'silent_and_undone';
    expect(await dispatch()).toMatchObject({ dispatched: false, reason: 'app_launch_failed' });
    const before = world.documents.files.get(path)!;
    const was_begun = world.app.conversations.length;
    const shown = (await shownBy(() => rehearse(more))) as Rehearsal;
    expect(shown).toMatchObject({ dry_run: true, command: null, ends: [] });
    expect(await dispatch(more)).toMatchObject({ dispatched: true });
    const { thread_id, messages } = world.app.only();
    expect(messages.map(({ text }) => text)).toEqual([shown.prompt]);
    const told = shown.documents.map(({ diff }) => diff.replaceAll('<conversation>', thread_id)).join('');
    expect(untimed(told)).toBe(diffOf(path, before));
    expect(shown.would).toContain(was_begun === 1 ? thread_id : 'start a conversation');
  });

  it('[CAP-8] whose first message had arrived starts nothing, and what a person adds is a message to it', async () => {
    world.fiber('a', APP);
    world.app.faults.send = 'down';
    await dispatch();
    const { thread_id } = world.app.only();
    const [run] = daemon.memory.runs.all();
    world.app.only().messages.push({ id: run!.launch_id, text: 'arrived after all' });
    const shown = (await shownBy(() => rehearse({ user_message: 'Hurry' }))) as Rehearsal;
    expect(shown).toMatchObject({
      prompt: null,
      documents: [],
      would: expect.stringMatching(new RegExp(`${thread_id}.*, and send it the message$`)),
    });
    expect(await shownBy(() => rehearse())).toMatchObject({ prompt: null });
    expect(await dispatch({ user_message: 'Hurry' })).toMatchObject({ already_running: true });
    expect(world.app.only().messages.map(({ text }) => text)).toEqual(['arrived after all']);
  });

  it('[CAP-8] is refused as the dispatch is while the server is down, and begins again when told to', async () => {
    world.fiber('a', APP);
    world.app.faults.send = 'silent_and_undone';
    await dispatch();
    const { thread_id } = world.app.only();
    const fresh = (await shownBy(() => rehearse({ resume_mode: 'fresh' }))) as Rehearsal;
    expect(fresh).toMatchObject({
      would: expect.stringContaining('start a conversation'),
      ends: [expect.stringContaining(thread_id)],
    });
    world.app.up = false;
    const shown = await shownBy(() => rehearse());
    expect(shown).toMatchObject({ dispatched: false, reason: 'app_launch_failed' });
    expect(shown).toEqual(await dispatch());
    const [run] = daemon.memory.runs.all();
    expect(
      readFileSync(join(daemon.world.runDirectories.directory(run!.launch_id), 'prompt.md'), 'utf8'),
    ).not.toBe('');
  });
});

describe('a rehearsed attach to another host', () => {
  const ssh: SshTarget = { alias: 'host-b-login', flags: ['-p', '2222'] };
  const attach = <Q extends Partial<AskedTerminal>>(asked: Q) => {
    const { pastSessions } = daemon.dispatcher;
    return world.run(
      perform(openTerminal(daemon.world, pastSessions), { lines: [], host: 'host-b', ssh, ...asked }),
    );
  };

  it('[WPL-21] opens no window, and names the words that the real one runs', async () => {
    const mux_session = 'loader-01K00000000000000000000001-svc';
    const shown = await shownBy(() => attach({ mux_session, dry_run: true as const }));
    await attach({ mux_session });
    expect(shown.command?.argv).toEqual(world.terminals[0]?.argv);
    expect(shown.command?.argv).toEqual(expect.arrayContaining(['-p', '2222', 'host-b-login']));
  });

  it('[WPL-21] has a past session opened there first, and refuses a name that no session has', async () => {
    const session = '00000000-0000-4000-8000-000000000009';
    const shown = await shownBy(() => attach({ session, dry_run: true as const }));
    expect(shown.steps.map(({ would }) => would)).toEqual([
      `have host-b open the past session ${session}`,
      `open a terminal window on resume-${session} of host-b`,
    ]);
    const hostile = { mux_session: '$(rm -rf ~)', dry_run: true };
    await shownBy(() => expect(attach(hostile)).rejects.toMatchObject({ code: 'surface_unsupported' }));
  });
});
