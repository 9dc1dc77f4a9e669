import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Meeting, MeetingAnswer } from '../../src/contract/http/meeting.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';

const STAND_IN = fileURLToPath(new URL('../fixtures/meetings/stand-in-recorder.mjs', import.meta.url));

/** The daemon that records, and the one whose workers take meetings up. */
let recording: TestDaemon;
let owner: TestDaemon;
beforeAll(async () => {
  [recording, owner] = await Promise.all([
    startTestDaemon({ settings: { SVC_HOST: 'host-a', SVC_RECORDER: STAND_IN } }),
    startTestDaemon({
      settings: { SVC_HOST: 'host-b', SVC_RECORDER: '/nonexistent' },
      prepare: (home) =>
        void home.fiber('plans/budget', {
          agent: 'talks',
          svc: { host: 'host-b' },
          front: { status: 'open' },
        }),
    }),
  ]);
  const remotes = (name: string, { address }: TestDaemon, more: object = {}) => ({
    remotes: [{ name, url: `http://${address}`, ...more }],
  });
  recording.home.write('config/remotes.json', remotes('host-b', owner, { ssh: 'host-b-login' }));
  owner.home.write('config/remotes.json', remotes('host-a', recording));
  await until('the remotes', async () => {
    const known = await Promise.all([
      recording.http.get('/agents?origin=host-b'),
      owner.http.get('/agents?origin=host-a'),
    ]);
    return known.every(({ status }) => status === 200);
  });
});
afterAll(async () => {
  await Promise.all([recording.dispose(), owner.dispose()]);
});

const meetingOf = async (daemon: TestDaemon, query = '') =>
  (await daemon.http.get<MeetingAnswer>(`/meeting${query}`)).body.meeting;
const stop = async () => {
  await recording.http.post('/meeting/stop', {});
  await until('the end', async () => (await meetingOf(recording)) === null);
};
const promptOf = (run_id: unknown) =>
  readFileSync(join(owner.home.data, 'runs', String(run_id), 'prompt.md'), 'utf8');

describe('a meeting for another host', () => {
  it('[CAP-3] [CAP-4] [MTG-1] [MTR-5] [MTR-6] is recorded here, mirrored there, and taken up by a worker there', async () => {
    const project_dir = owner.home.project('meetings');
    const answer = await recording.http.post<Record<string, unknown> & { meeting: Meeting }>('/capture', {
      ...{ prompt: 'Weekly', project_dir, agent: 'talks', origin: 'host-b', meeting: { mode: 'phone' } },
    });
    expect(answer.status, answer.text).toBe(200);
    const { meeting, run_id } = answer.body;
    expect(answer.body).toMatchObject({ captured: true, host: 'host-b' });
    expect(meeting).toMatchObject({ state: 'live', mirror_host: 'host-b', fiber: null });
    expect(await meetingOf(owner)).toBeNull();
    expect((await meetingOf(owner, '?origin=host-a'))?.launch).toBe(meeting.launch);
    const name = meeting.transcript.slice(recording.home.data.length + '/meetings/'.length, -'.txt'.length);
    const there = `~/.stand-in-recorder.mjs/meetings/${name}.txt`;
    expect(promptOf(run_id)).toContain(`Transcript: ${there}`);
    const script = readFileSync(meeting.transcript.replace(/txt$/, 'sh'), 'utf8');
    expect(script).toContain(`--mirror host-b-login --mirror-path '${there}'`);

    owner.home.write(
      'projects/meetings/orders',
      `svc fiber add Minutes --slug minutes --body x && svc install minutes --project-dir ${project_dir} --agent talks && svc claim minutes --meeting ${meeting.launch}`,
    );
    await until('the fiber of the scribe', async () => (await meetingOf(recording))?.fiber === 'minutes');
    const nested = await owner.http.post('/fiber-nest', { fiber_id: 'minutes', parent: 'plans/budget' });
    expect(nested.status, nested.text).toBe(200);
    await until('its new name', async () => (await meetingOf(recording))?.fiber === 'plans/budget/minutes');
    await stop();
  });

  it('[MTG-2] [WPL-7] joins a fiber there, whose worker is told, and marked to it', async () => {
    const joined = await recording.http.post<{ meeting: Meeting; delivery: Record<string, unknown> }>(
      '/meeting/join',
      { fiber_id: 'plans/budget', origin: 'host-b', meeting: { mode: 'phone' }, note: 'Budget 2027' },
    );
    expect(joined.status, joined.text).toBe(200);
    const { meeting, delivery } = joined.body;
    expect(meeting).toMatchObject({ title: 'Budget 2027', fiber: 'plans/budget', mirror_host: 'host-b' });
    expect(delivery).toMatchObject({ delivered: true, delivery: 'dispatch', host: 'host-b' });
    expect(promptOf(delivery.run_id)).toContain('It joins the fiber that you work on.');
    const mark = await until('a session to tell', async () => {
      const { body } = await recording.http.post<{ undelivered: string | null }>('/meeting/mark', {
        text: 'agreed',
      });
      return body.undelivered?.includes('no worker') === true ? null : body;
    });
    expect(mark).toMatchObject({ line: expect.stringContaining('agreed') });
    await stop();
  });

  it('[MTG-2] [CAP-6] goes on where that host is away', async () => {
    await owner.kill9();
    const joined = await recording.http.post<Record<string, unknown>>('/meeting/join', {
      ...{ fiber_id: 'plans/budget', origin: 'host-b', meeting: { mode: 'phone' } },
    });
    expect(joined).toMatchObject({
      status: 503,
      body: { error: 'remote_unreachable', recording: true, meeting: { state: 'live' } },
    });
    await stop();
    const project_dir = owner.home.project('meetings');
    const captured = await recording.http.post<Record<string, unknown>>('/capture', {
      ...{ project_dir, agent: 'talks', origin: 'host-b', meeting: { mode: 'phone' } },
    });
    expect(captured).toMatchObject({
      status: 503,
      body: { error: 'remote_unreachable', recording: true, meeting: { title: 'Meeting' } },
    });
    await stop();
    await owner.start();
  });
});
