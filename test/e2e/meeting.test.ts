import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import {
  type AudioMessage,
  audioMessageSchema,
  type Meeting,
  type MeetingAnswer,
} from '../../src/contract/http/meeting.ts';
import { hookCommand } from '../../src/harness/hooks/hook-command.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { isRunning, processOf } from '../kit/processes.ts';
import { until } from '../kit/until.ts';

const STAND_IN = fileURLToPath(new URL('../fixtures/meetings/stand-in-recorder.mjs', import.meta.url));
/** 20 ms of audio. */
const FRAME_BYTES = 640;

let daemon: TestDaemon | undefined;
const phones: WebSocket[] = [];
afterEach(async () => {
  for (const phone of phones.splice(0)) phone.terminate();
  await daemon?.dispose();
  daemon = undefined;
});

/** A daemon whose recorder behaves so; see `stand-in-recorder.mjs`. */
async function startDaemon(behaviour = 'records', more: Record<string, string> = {}): Promise<TestDaemon> {
  daemon = await startTestDaemon({
    settings: { SVC_RECORDER: STAND_IN, SVC_STAND_IN: behaviour, ...more },
    prepare: (home) => void home.fiber('plans/budget', { agent: 'talks', front: { status: 'open' } }),
  });
  return daemon;
}

async function capture(body: object = {}) {
  const project_dir = daemon!.home.project('meetings');
  return daemon!.http.post<{ meeting?: Meeting; recording?: boolean } & Record<string, unknown>>('/capture', {
    ...{ prompt: 'Budget 2027\nwith Ada', project_dir, agent: 'talks', meeting: { mode: 'phone' }, ...body },
  });
}

const look = async () => (await daemon!.http.get<MeetingAnswer>('/meeting')).body;
const whenMeeting = (what: string, is: (meeting: Meeting | null) => boolean) =>
  until(what, async () => {
    const { meeting } = await look();
    return is(meeting) ? { meeting } : null;
  });

/** A phone that is connected. */
function phone(query = '', headers: Record<string, string> = {}) {
  const client = new WebSocket(`ws://${daemon!.address}/api/v1/meeting/audio${query}`, { headers });
  phones.push(client);
  const told: AudioMessage[] = [];
  client.on('message', (data) => told.push(audioMessageSchema.parse(JSON.parse(String(data)))));
  const closed = once(client, 'close').then(([code, reason]) => ({ code, reason: String(reason) }));
  const when = (state: AudioMessage['state']) =>
    until(`a phone being ${state}`, () => told.at(-1)?.state === state);
  return { client, told, closed, when };
}

/** A frame whose samples all have this number. */
const frame = (sample: number) => Buffer.from(new Int16Array(FRAME_BYTES / 2).fill(sample).buffer);

describe('a meeting', () => {
  it('[WPL-6] [CAP-2] [CAP-3] [CAP-5] [MTS-2] [MTR-1] [MTR-3] [MTR-4] [RPL-16] [EVT-6] is recorded for a capture, whose worker gets its facts and claims a fiber with it', async () => {
    const { home, http } = await startDaemon();
    expect(await look()).toEqual({
      ...{ available: true, unavailable: null, modes: ['phone'], meeting: null, audio: null },
    });
    const { status, body, text } = await capture();
    expect(status, text).toBe(200);
    expect(body).toMatchObject({ captured: true, surface: 'cli', mux_session: expect.any(String) });
    expect(body.meeting).toMatchObject({
      ...{ state: 'live', mode: 'phone', title: 'Budget 2027', phone: true, joined: false, fiber: null },
      ...{ mirror_host: null, error: null, mux_session: 'recorder-meeting' },
      tail: ['10:00:01-10:00:03 S1 good morning'],
    });
    const meeting = body.meeting!;
    expect(await home.sessions()).toContain('recorder-meeting');
    const prompt = readFileSync(join(home.data, 'runs', String(body.run_id), 'prompt.md'), 'utf8');
    expect(prompt).toContain(`Transcript: ${meeting.transcript}`);
    expect(prompt).toContain('Mode: phone');
    expect(prompt).toContain('references/meeting.md');
    expect(prompt).toContain('Budget 2027\nwith Ada');
    expect(prompt).toContain(`--meeting ${meeting.launch}`);

    appendFileSync(meeting.transcript, '# a comment\n10:00:04-10:00:05 S1 the budget\n');
    expect((await look()).meeting?.tail.at(-1)).toBe('10:00:04-10:00:05 S1 the budget');

    const project = home.project('meetings');
    home.write(
      'projects/meetings/orders',
      `svc fiber add Minutes --slug minutes --body x && svc install minutes --project-dir ${project} --agent talks && svc claim minutes --meeting ${meeting.launch}`,
    );
    await whenMeeting('[MTR-5] the fiber of the scribe', (one) => one?.fiber === 'minutes');
    expect((await daemon!.row('minutes'))?.svc?.runtime?.meeting).toBe(meeting.launch);
    expect((await http.get<{ audio: { meeting: unknown } }>('/state')).body.audio.meeting).toMatchObject({
      state: 'live',
    });
  });

  it('[WPL-8] [MTS-5] [MTS-6] [ERR-10] [ERR-14] [RPL-24] is the only one of its host, and ends once when it is told to', async () => {
    const { http } = await startDaemon();
    const nothing = await http.post('/meeting/stop', {});
    expect(nothing.status).toBe(404);
    expect(await http.post('/meeting/stop', { dry_run: true })).toMatchObject({
      status: 404,
      text: nothing.text,
    });
    const { meeting } = (await capture()).body;
    const second = await capture();
    expect([second.status, second.body.error]).toEqual([409, 'meeting_running']);
    expect(second.body.meeting?.launch).toBe(meeting!.launch);
    const rehearsed = await http.post('/meeting/stop', { dry_run: true });
    expect(rehearsed).toMatchObject({
      status: 200,
      body: { would: expect.stringMatching(/^end the meeting /) },
    });
    const stopped = await http.post<{ meeting: Meeting | null }>('/meeting/stop', {});
    expect(stopped.status).toBe(202);
    await whenMeeting('the end', (one) => one === null);
    expect(readFileSync(meeting!.transcript, 'utf8').match(/# ended/g)).toHaveLength(1);
    const next = (await capture()).body.meeting!;
    expect(next.transcript).not.toBe(meeting!.transcript);
    await http.post('/meeting/stop', {});
    await whenMeeting('the second end', (one) => one === null);
  });

  it('[CAP-3] is recorded although a shell has the session of its recorder, and a dismissal leaves that shell alone', async () => {
    const { home, http } = await startDaemon('loads-forever');
    // As a program does that restores the sessions of before a reboot.
    expect(await home.tmux('new-session', '-d', '-s', 'recorder-meeting')).toBe('');
    const shell = await home.panePid('recorder-meeting');
    expect((await capture()).body.meeting?.state).toBe('loading');
    expect(await home.panePid('recorder-meeting-not-ours')).toBe(shell);
    expect((await http.post('/meeting/stop', {})).status).toBe(202);
    await whenMeeting('the end', (one) => one === null);
    expect(await home.tmux('list-sessions', '-F', '#{session_name}')).not.toMatch(/^recorder-meeting$/m);
    expect(await home.panePid('recorder-meeting-not-ours')).toBe(shell);
  });

  it('[MTS-6] stays in its stop, however often it is told to', async () => {
    const { http } = await startDaemon('never-stops');
    await capture();
    for (let times = 0; times < 3; times += 1) {
      const { status, body } = await http.post<{ meeting: Meeting }>('/meeting/stop', {});
      expect([status, body.meeting.state]).toEqual([202, 'stopping']);
      expect((await http.post('/meeting/stop', { dry_run: true })).body).toMatchObject({
        would: expect.stringMatching(/^change nothing: .* is stopping already$/),
      });
    }
    expect((await capture()).status).toBe(409);
  });

  it.each([
    ['dies', 'no microphone driver'],
    ['fails', 'SVC_SPEECH_MODEL'],
  ])(
    '[MTS-4] [MTG-4] [ERR-25] that %s at its start is refused with its reason, and no worker is started',
    async (behaviour, why) => {
      const { http, home } = await startDaemon(behaviour);
      const { status, body } = await capture();
      expect([status, body.error, body.recording]).toEqual([503, 'recorder_failed', false]);
      expect(body.message).toContain(why);
      expect(body.meeting).toMatchObject({ state: 'failed' });
      expect((await look()).meeting?.error).toContain(why);
      expect((await daemon!.state()).captures).toEqual([]);
      // [MTS-7]
      expect((await http.post('/meeting/stop', { dry_run: true })).body).toMatchObject({
        would: expect.stringMatching(/^dismiss the meeting .* has failed$/),
        ends: ['recorder-meeting'],
      });
      const stopped = await http.post<{ meeting: Meeting | null }>('/meeting/stop', {});
      expect(stopped).toMatchObject({ status: 202, body: { meeting: null } });
      expect((await look()).meeting).toBeNull();
      expect(await home.sessions()).not.toContain('recorder-meeting');
    },
  );

  it('[MTS-3] counts as started while it loads, and [MTS-7] is dismissed while nothing of it can be read', async () => {
    const { http, home } = await startDaemon('silent');
    const { status, body } = await capture();
    expect([status, body.meeting?.state]).toEqual([200, 'starting']);
    expect(await home.sessions()).toContain('recorder-meeting');
    expect((await http.post<{ meeting: Meeting | null }>('/meeting/stop', {})).body.meeting).toBeNull();
    expect(await home.sessions()).not.toContain('recorder-meeting');
  });

  it('[MTG-3] [ERR-19] [ERR-25] [CAP-3] is refused for another mode, for the app, and without a recorder', async () => {
    const { http } = await startDaemon('records');
    expect(await capture({ meeting: { mode: 'room' } })).toMatchObject({
      status: 422,
      body: { error: 'meeting_unsupported', message: expect.stringContaining('phone') },
    });
    expect(await capture({ surface: 'app' })).toMatchObject({
      status: 422,
      body: { error: 'surface_unsupported' },
    });
    expect((await look()).meeting).toBeNull();
    expect(
      (await http.post('/meeting/join', { fiber_id: 'nobody', meeting: { mode: 'phone' } })).status,
    ).toBe(404);
    await daemon!.dispose();
    await startDaemon('records', { SVC_RECORDER: '/nonexistent/recorder' });
    expect(await look()).toMatchObject({ available: false, modes: [] });
    expect(await capture()).toMatchObject({ status: 503, body: { error: 'recorder_unavailable' } });
  });

  it('[CAP-6] goes on where its capture fails, which says so', async () => {
    await startDaemon();
    const { status, body } = await capture({ agent: 'nobody' });
    expect([status, body.reason, body.recording]).toEqual([422, 'agent_unknown', true]);
    expect(body.meeting).toMatchObject({ state: 'live' });
    expect((await look()).meeting?.state).toBe('live');
  });

  it('[CAP-6] [WPL-6] goes on where the store is away, and starts no worker that could not file its fiber', async () => {
    const { home } = await startDaemon();
    renameSync(home.store, `${home.store}.away`);
    const { status, body } = await capture();
    expect(status).toBe(503);
    expect(body).toMatchObject({ error: 'store_unavailable', recording: true, meeting: { state: 'live' } });
    expect(body.message).toContain(`${home.store} cannot be read`);
    expect((await capture({ meeting: undefined })).body).toMatchObject({ error: 'store_unavailable' });
    expect((await daemon!.state()).captures).toEqual([]);
    expect(existsSync(home.store)).toBe(false);
    renameSync(`${home.store}.away`, home.store);
    expect((await capture({ meeting: undefined })).status).toBe(200);
  });

  it('[WPL-7] [MTG-2] [MTR-5] joins a fiber, whose worker is started with its facts, or told of it', async () => {
    const { http, home } = await startDaemon();
    const joined = await http.post<{ meeting: Meeting; delivery: Record<string, unknown> }>('/meeting/join', {
      ...{ fiber_id: 'plans/budget', meeting: { mode: 'phone' } },
    });
    expect(joined.status, joined.text).toBe(200);
    const { meeting, delivery } = joined.body;
    expect(meeting).toMatchObject({ title: 'budget', joined: true, fiber: 'plans/budget', state: 'live' });
    expect(delivery).toMatchObject({ delivered: true, delivery: 'dispatch' });
    const prompt = readFileSync(join(home.data, 'runs', String(delivery.run_id), 'prompt.md'), 'utf8');
    expect(prompt).toContain('It joins the fiber that you work on.');
    expect(prompt).toContain(meeting.transcript);

    home.fiber('archive', { front: { status: 'open' } });
    await daemon!.ticks();
    const nested = await http.post('/fiber-nest', { fiber_id: 'plans/budget', parent: 'archive' });
    expect(nested.status, nested.text).toBe(200);
    await whenMeeting('its new name', (one) => one?.fiber === 'archive/budget');
  });

  it('[MTG-2] goes on where its delivery fails, which says so', async () => {
    const { http, home } = await startDaemon();
    home.fiber('broken', { svc: { agent: 'nobody' }, front: { status: 'open' } });
    await daemon!.ticks();
    const joined = await http.post<Record<string, unknown>>('/meeting/join', {
      ...{ fiber_id: 'broken', meeting: { mode: 'phone' }, note: 'Weekly' },
    });
    expect(joined.status, joined.text).toBe(422);
    expect(joined.body).toMatchObject({
      ...{ error: joined.body.reason, delivered: false, recording: true },
      meeting: { title: 'Weekly', state: 'live' },
    });
    expect((await look()).meeting?.state).toBe('live');
  });

  it('[WPL-1] is shown, and not recorded, by a dry run', async () => {
    const { http, home } = await startDaemon();
    const shown = await capture({ dry_run: true });
    expect(shown.body).toMatchObject({
      dry_run: true,
      steps: [
        {
          command: {
            argv: expect.arrayContaining([STAND_IN, '--mode', 'phone']),
            mux_session: 'recorder-meeting',
          },
        },
        { prompt: expect.stringContaining('A meeting is being recorded now') },
      ],
    });
    expect(
      (
        await http.post('/meeting/join', {
          fiber_id: 'plans/budget',
          meeting: { mode: 'phone' },
          dry_run: true,
        })
      ).body,
    ).toMatchObject({ dry_run: true });
    expect((await look()).meeting).toBeNull();
    expect(await home.sessions()).toEqual([]);
  });

  it('is marked by a line of its transcript', async () => {
    const { http } = await startDaemon();
    expect((await http.post('/meeting/mark', {})).status).toBe(404);
    const { meeting } = (await capture()).body;
    const marked = await http.post<{ line: string; undelivered: string | null }>('/meeting/mark', {
      text: 'agreed:\n 2 % more',
    });
    expect(marked.body.line).toMatch(/^# mark \d\d:\d\d:\d\d agreed: {2}2 % more$/);
    expect(marked.body.undelivered).toContain('no worker');
    expect(readFileSync(meeting!.transcript, 'utf8')).toContain(`${marked.body.line}\n`);
    expect((await look()).meeting?.tail).toEqual(['10:00:01-10:00:03 S1 good morning']);
  });

  it('[MTR-5] [MSG-2] is marked to its scribe, whose fiber was renamed, at most 2 s later', async () => {
    const { http, home } = await startDaemon();
    // Its hooks are those of the agents of this home.
    home.env.CLAUDE_CONFIG_DIR = home.claude;
    const setup = await home.svc('setup', 'claude');
    expect(setup.code, setup.stderr).toBe(0);
    const joined = await http.post('/meeting/join', {
      ...{ fiber_id: 'plans/budget', meeting: { mode: 'phone' } },
    });
    expect(joined.status, joined.text).toBe(200);
    home.fiber('archive', { front: { status: 'open' } });
    await daemon!.ticks();
    await http.post('/fiber-nest', { fiber_id: 'plans/budget', parent: 'archive' });
    const { runtime } = await daemon!.rowWhen(
      'archive/budget',
      'its session',
      (row) => row.runtime?.session_uuid != null,
    );
    const session_id = runtime!.session_uuid!;
    /** What the worker is given as context, by its hook, as it goes on. */
    const taken = () =>
      execFileSync('/bin/sh', ['-c', hookCommand('claude')], {
        env: home.env,
        encoding: 'utf8',
        input: JSON.stringify({
          ...{ session_id, hook_event_name: 'PostToolUse' },
          transcript_path: home.path('transcript.jsonl'),
        }),
      });
    const before = performance.now();
    const marked = await http.post<{ line: string; undelivered: string | null }>('/meeting/mark', {
      text: 'agreed',
    });
    // It waits where the hook takes it from; when the hook runs is up to the agent.
    expect(performance.now() - before).toBeLessThan(2_000);
    expect(marked.body.undelivered).toBe(null);
    expect(taken()).toContain(marked.body.line.slice(2));
  });

  it('[P1] goes on while the daemon is killed and away, and is taken over by the next one', async () => {
    const { home } = await startDaemon();
    const { meeting } = (await capture()).body;
    const recorder = processOf(await home.panePid('recorder-meeting'));
    await daemon!.kill9();
    expect(isRunning(recorder)).toBe(true);
    appendFileSync(meeting!.transcript, '10:01:00-10:01:02 S1 while nobody looked\n');
    await daemon!.start();
    const after = (await look()).meeting;
    expect(after).toMatchObject({ state: 'live', launch: meeting!.launch, title: 'Budget 2027' });
    expect(after?.tail.at(-1)).toContain('while nobody looked');
    await daemon!.http.post('/meeting/stop', {});
    await whenMeeting('the end', (one) => one === null);
    await until('the end of the recorder', () => !isRunning(recorder));
  });

  it('[MTS-1] whose recorder is killed is shown as failed, with what it wrote', async () => {
    const { home } = await startDaemon();
    const { meeting } = (await capture()).body;
    process.kill(await home.panePid('recorder-meeting'), 'SIGKILL');
    const { meeting: row } = await whenMeeting('the failure', (one) => one?.state === 'failed');
    expect(row?.error).toContain('in the transcript');
    expect(existsSync(meeting!.transcript)).toBe(true);
    expect((await capture()).status).toBe(200);
  });
});

describe('a recorder that is killed', () => {
  it('[MTS-1] while it loads is shown as one that recorded nothing', async () => {
    const { home } = await startDaemon('loads-forever');
    const { body } = await capture();
    expect(body.meeting?.state).toBe('loading');
    process.kill(await home.panePid('recorder-meeting'), 'SIGKILL');
    const { meeting } = await whenMeeting('the failure', (one) => one?.state === 'failed');
    expect(meeting?.error).toContain('before it recorded anything');
  });

  it('[MTS-5] while it stops is shown as failed, and can be dismissed', async () => {
    const { home, http } = await startDaemon('never-stops');
    await capture();
    await http.post('/meeting/stop', {});
    process.kill(await home.panePid('recorder-meeting'), 'SIGKILL');
    await whenMeeting('the failure', (one) => one?.state === 'failed');
    expect((await http.post('/meeting/stop', {})).status).toBe(202);
    expect((await look()).meeting).toBeNull();
  });
});

describe('the audio of a phone', () => {
  it.each(['auto', 'node'])(
    '[AUD-1] [AUD-2] [AUD-3] [AUD-5] [AUD-7] [EVT-2] [RPL-17] [SVC-4] reaches the recorder unchanged until the meeting ends: %s',
    async (http) => {
      const one = await startDaemon('records', { SVC_HTTP: http });
      const { meeting } = (await capture()).body;
      const { client, told, closed, when } = phone(`?launch=${meeting!.launch}`);
      await when('connected');
      const sent = Array.from({ length: 50 }, (_, n) => frame(n * 100));
      for (const bytes of sent) client.send(bytes);
      const kept = `${meeting!.transcript}.pcm`;
      await until(
        'the audio',
        () => existsSync(kept) && readFileSync(kept).length >= sent.length * FRAME_BYTES,
      );
      expect(readFileSync(kept).equals(Buffer.concat(sent))).toBe(true);
      expect((await look()).audio).toMatchObject({ connected: true, frames: 50, dropped: 0 });
      expect((await look()).audio?.peak_db).toBeCloseTo(20 * Math.log10(4_900 / 32_768), 0);
      await one.http.post('/meeting/stop', {});
      expect(await closed).toMatchObject({ code: 4410 });
      expect(told.at(-1)).toMatchObject({ state: 'ended', reason: expect.any(String) });
    },
  );

  it('[AUD-4] [LIM-14] is dropped until the recorder takes it', async () => {
    await startDaemon('slow');
    const { meeting } = (await capture()).body;
    const { client, told, when } = phone();
    await when('waiting');
    client.send(frame(1));
    await when('connected');
    client.send(frame(2));
    const kept = `${meeting!.transcript}.pcm`;
    await until('the second frame', () => existsSync(kept));
    expect(readFileSync(kept).equals(frame(2))).toBe(true);
    expect(told.map(({ state }) => state)).toEqual(['waiting', 'connected']);
    expect((await look()).audio).toMatchObject({ frames: 1, dropped: 1 });
  });

  it('[AUD-8] [LIM-20] [ERR-30] is that of the last phone alone; the one before is told', async () => {
    await startDaemon();
    const { meeting } = (await capture()).body;
    const first = phone();
    await first.when('connected');
    const second = phone();
    await second.when('connected');
    expect(await first.closed).toMatchObject({ code: 4409 });
    expect(first.told.at(-1)?.state).toBe('replaced');
    second.client.send(frame(7));
    await until('its audio', () => existsSync(`${meeting!.transcript}.pcm`));
    expect(second.told.at(-1)?.state).toBe('connected');
  });

  it('[AUD-6] [AUD-10] [ERR-21] is refused with the reason where there is no such meeting', async () => {
    const { http } = await startDaemon();
    const none = phone();
    expect(await none.closed).toMatchObject({ code: 4404 });
    expect(none.told.at(-1)?.state).toBe('refused');
    await capture();
    expect(await phone('?launch=another').closed).toMatchObject({ code: 4404 });
    expect((await http.get('/meeting/audio')).status).toBe(426);
    const foreign = new WebSocket(`ws://${daemon!.address}/api/v1/meeting/audio`, {
      headers: { origin: 'http://evil.example' },
    });
    const [response] = await once(foreign, 'unexpected-response').then(([, answer]) => [answer]);
    expect(response.statusCode).toBe(403);
    const own = phone('', { origin: `http://${daemon!.address}` });
    await own.when('connected');
  });

  it('[AUD-1] [AUD-6] [AUD-10] is refused in a message for a launch of any form', async () => {
    await startDaemon();
    const overlong = `launch=${'x'.repeat(5_000)}`;
    for (const query of ['launch=', overlong, 'launch=%zz%ff', 'launch=a&launch=b', 'launch=%00%0a']) {
      const { told, closed } = phone(`?${query}`);
      expect([query, await closed]).toMatchObject([query, { code: 4404 }]);
      expect(told).toEqual([{ state: 'refused', reason: expect.any(String) }]);
    }
  });

  it('[AUD-9] tells the whole reason in its message, and the beginning of it as it closes', async () => {
    await startDaemon('fails');
    await capture();
    const { told, closed } = phone();
    const { code, reason } = await closed;
    expect(code).toBe(4410);
    const last = told.at(-1) as { reason: string };
    expect(last.reason).toBe('the model folder is empty; name another one in SVC_SPEECH_MODEL');
    expect(last.reason.startsWith(reason)).toBe(true);
  });

  it('[AUD-7] [P1] ends where the recorder is killed, and not as if another phone had taken over', async () => {
    const { home } = await startDaemon();
    await capture();
    const { told, closed, when } = phone();
    await when('connected');
    process.kill(await home.panePid('recorder-meeting'), 'SIGKILL');
    expect(await closed).toMatchObject({ code: 4410 });
    expect(told.at(-1)).toMatchObject({ state: 'ended', reason: expect.stringContaining('recorder ended') });
  });
});
