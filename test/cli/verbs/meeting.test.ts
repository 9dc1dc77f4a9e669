import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { meetingPage, meterLine, newLines } from '../../../src/cli/verbs/meeting/follow-page.ts';
import type { Meeting, MeetingAnswer } from '../../../src/contract/http/meeting.ts';
import { until } from '../../kit/until.ts';
import { CAPTURED, FIBER } from '../../routes/samples.ts';
import { type Answers, createMachine, type Machine, type StandIn, serveAnswers } from '../kit.ts';

const NOW = Date.UTC(2026, 10, 23, 10);
const MEETING: Meeting = {
  ...{ state: 'live', mode: 'phone', title: 'Budget 2027', started_at: NOW - 180_000 },
  tail: ['10:00:01-10:00:03 S1 good morning', '10:00:04-10:00:06 S1 the budget'],
  ...{ transcript: '/data/meetings/budget.txt', mirror_host: null, fiber: null, joined: false },
  ...{ phone: true, launch: '01K0', mux_session: 'recorder-meeting', error: null },
};
const AUDIO = { connected: true, peak_db: -30, frames: 9, dropped: 0 };
const ANSWER: MeetingAnswer = {
  ...{ available: true, unavailable: null, modes: ['phone'], meeting: MEETING, audio: AUDIO },
};
const NONE: MeetingAnswer = { ...ANSWER, meeting: null, audio: null };

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
async function serve(answers: Answers): Promise<StandIn> {
  server = await serveAnswers(answers);
  machine.writeDaemonFile([server.listen]);
  return server;
}

describe('what svc meeting shows', () => {
  it.each([
    [[], ['a', 'b'], ['a', 'b']],
    [['a', 'b'], ['a', 'b'], []],
    [['a', 'b'], ['a', 'b', 'c'], ['c']],
    [
      ['a', 'b', 'c'],
      ['b', 'c', 'd', 'e'],
      ['d', 'e'],
    ],
    [
      ['a', 'b'],
      ['x', 'y'],
      ['x', 'y'],
    ],
    [['a', 'a'], ['a', 'a', 'a'], ['a']],
  ])('the lines that came between the tails %j and %j', (before, after, lines) => {
    expect(newLines(before, after)).toEqual(lines);
  });

  it('the level as a bar, and nothing without a phone', () => {
    expect(meterLine(AUDIO)).toBe('[##########----------] -30 dB');
    expect(meterLine({ ...AUDIO, peak_db: -90 })).toBe('[--------------------] -90 dB');
    expect(meterLine({ ...AUDIO, peak_db: 0 })).toBe('[####################] 0 dB');
    expect(meterLine({ ...AUDIO, peak_db: null })).toBeNull();
    expect(meterLine(null)).toBeNull();
  });

  it('a meeting as its state, its files and its scribe', () => {
    expect(meetingPage(ANSWER, NOW)).toBe(`"Budget 2027" is live, started 3 min ago
  transcript  /data/meetings/budget.txt
  fiber       no fiber yet
  phone       connected [##########----------] -30 dB
`);
    const lossy = { ...ANSWER, audio: { ...AUDIO, frames: 990, dropped: 10 } };
    expect(meetingPage(lossy, NOW)).toContain('-30 dB, 10 of 1000 frames lost\n');
    const failed: Meeting = {
      ...MEETING,
      state: 'failed',
      error: 'no disk',
      mirror_host: 'mesa',
      fiber: 'a/b',
    };
    expect(
      meetingPage({ ...ANSWER, meeting: failed, audio: null }, NOW),
    ).toBe(`"Budget 2027" has failed, started 3 min ago
  fault       no disk
  transcript  /data/meetings/budget.txt (mirrored to mesa)
  fiber       a/b
  phone       not connected
`);
  });

  it('without a meeting how to start one, or why none can be', () => {
    expect(meetingPage(NONE, NOW)).toContain('svc meeting start --project-dir');
    expect(meetingPage({ ...NONE, available: false, unavailable: 'Install one.' }, NOW)).toBe(
      'No meeting is recorded. Install one.\n',
    );
  });
});

describe('svc meeting', () => {
  it('[WPL-6] start records for a capture, and says where the phone connects', async () => {
    const { seen, listen } = await serve({
      'POST /capture': { body: { ...CAPTURED, meeting: MEETING } },
    });
    const { code, out } = await machine.svc('meeting', 'start', 'Budget 2027', '--project-dir', 'sub');
    expect(code).toBe(0);
    expect(out).toContain('"Budget 2027" is live\n');
    expect(out).toContain(`Phone    http://${listen}/?view=meeting&launch=01K0\n`);
    expect(out).toContain('svc meeting status -f');
    expect(seen[0]?.body).toEqual({
      ...{ prompt: 'Budget 2027', project_dir: join(machine.folder, 'sub'), meeting: { mode: 'phone' } },
    });
  });

  it('[CAP-6] start says that a recording goes on whose scribe could not be started', async () => {
    const body = {
      ...{ captured: false, reason: 'agent_unknown', host: 'a', message: 'there is no agent x' },
      ...{ meeting: MEETING, recording: true },
    };
    await serve({ 'POST /capture': { status: 422, body } });
    const { code, err } = await machine.svc('meeting', 'start', '--project-dir', '.', '--agent', 'x');
    expect(code).toBe(1);
    expect(err).toContain('there is no agent x');
    expect(err).toContain('svc meeting stop');
  });

  it.each([
    [{ status: 'submitted', transport: 'terminal' }, ', told: '],
    [{ status: 'queued', transport: 'held' }, ', not told yet: '],
    [{ status: 'rejected', transport: 'none' }, ', not told: '],
  ])('[MTG-2] [RCP-5] join says whether the worker knows: %j', async (stage, word) => {
    const receipt = { message_id: 'm', address: 'svc://a/claude/s', detail: 'so it is', at: 1, ...stage };
    const delivery = { delivered: stage.status !== 'rejected', delivery: 'message', receipt };
    await serve({
      'GET /fibers/budget': { body: { fiber: { ...FIBER, id: 'budget' } } },
      'POST /meeting/join': { body: { meeting: { ...MEETING, fiber: 'budget', joined: true }, delivery } },
    });
    const { out, err } = await machine.svc('meeting', 'join', 'budget');
    expect(`${out}${err}`).toContain(`budget${word}so it is`);
  });

  it('[ERR-14] start is refused with the sentence of the daemon', async () => {
    const message = 'A meeting is live here: "Budget 2027"; stop it first with: svc meeting stop';
    await serve({ 'POST /capture': { status: 409, body: { error: 'meeting_running', message } } });
    const { code, err } = await machine.svc('meeting', 'start', '--project-dir', '.');
    expect([code, err]).toEqual([1, `svc: ${message}\n`]);
  });

  it('[RPL-16] shows the meeting and its last lines, of another host too', async () => {
    const { seen } = await serve({
      'GET /meeting': { body: ANSWER },
      'GET /meeting?origin=mesa': { body: ANSWER },
    });
    const { code, out } = await machine.svc('meeting', 'status', '--host', 'mesa');
    expect(code).toBe(0);
    expect(out).toContain('10:00:04-10:00:06 S1 the budget\n');
    expect(seen[0]?.path).toContain('origin=mesa');
    expect((await machine.svc('meeting')).out).toContain('"Budget 2027" is live');
  });

  it('[WPL-8] stop says where the transcript is', async () => {
    await serve({ 'POST /meeting/stop': { status: 202, body: { meeting: MEETING } } });
    expect((await machine.svc('meeting', 'stop')).out).toBe(
      '"Budget 2027" is ending; its transcript is /data/meetings/budget.txt\n',
    );
  });

  it.each([
    ['failed', true, 'Put away the failed meeting "Budget 2027"; its transcript is PATH\n'],
    ['failed', false, 'Put away the failed meeting "Budget 2027", which recorded nothing\n'],
    ['live', true, '"Budget 2027" has ended; its transcript is PATH\n'],
    ['starting', false, 'Dismissed "Budget 2027", which recorded nothing\n'],
  ] as const)(
    '[WPL-8] stop says of a meeting that was %s, and is over at once, what was recorded: %s',
    async (state, is_recorded, text) => {
      const transcript = join(machine.folder, 'budget.txt');
      if (is_recorded) writeFileSync(transcript, '# vad\n');
      await serve({
        'GET /meeting': { body: { ...ANSWER, meeting: { ...MEETING, state, transcript } } },
        'POST /meeting/stop': { status: 202, body: { meeting: null } },
      });
      expect((await machine.svc('meeting', 'stop')).out).toBe(text.replace('PATH', transcript));
    },
  );

  it('[EVT-6] status -f writes what was said last once the meeting is over, and names the transcript of another host', async () => {
    const transcript = join(machine.folder, 'budget.txt');
    writeFileSync(
      transcript,
      `# vad\n${[...MEETING.tail, '10:00:07-10:00:09 S1 goodbye'].join('\n')}\n# ended\n`,
    );
    const answers = (key: string) => {
      let looks = 0;
      const body = () => {
        looks += 1;
        return looks === 1 ? { ...ANSWER, meeting: { ...MEETING, transcript } } : NONE;
      };
      return { [key]: body };
    };
    await serve({ ...answers('GET /meeting'), ...answers('GET /meeting?origin=mesa') });
    const here = await machine.svc('meeting', 'status', '-f');
    expect(here.code).toBe(0);
    expect(here.out).toMatch(
      /S1 good morning\n.* S1 the budget\n10:00:07-10:00:09 S1 goodbye\nThe meeting is over\.\n$/,
    );
    const there = await machine.svc('meeting', 'status', '-f', '--host', 'mesa');
    expect(there.out).toMatch(
      /S1 the budget\nThe meeting is over\. Its transcript on mesa: .*budget\.txt\n$/,
    );
  });

  it('[EVT-6] status -f goes on over a restart of the daemon', async () => {
    await serve({ 'GET /meeting': { body: ANSWER } });
    const { context } = machine;
    const { out } = context;
    const shown = Promise.withResolvers<void>();
    const followed = machine.svc('meeting', 'status', '-f');
    context.out = (text) => {
      out(text);
      if (text.includes('the budget')) shown.resolve();
    };
    await shown.promise;
    await server?.close();
    machine.writeDaemonFile(['127.0.0.1:1']);
    const booting = { status: 503, body: { error: 'booting', message: 'it starts' } };
    await serve({ 'GET /meeting': booting });
    await until('a look', () => server!.seen.length > 0);
    await server?.close();
    const more = { ...MEETING, tail: [...MEETING.tail, '10:00:07-10:00:09 S1 goodbye'] };
    let looks = 0;
    await serve({
      'GET /meeting': () => {
        looks += 1;
        return looks === 1 ? { ...ANSWER, meeting: more } : NONE;
      },
    });
    const { code, out: all } = await followed;
    expect(code).toBe(0);
    expect(all).toContain('S1 goodbye\n');
  });

  it('mark prints the line, and says why the scribe was not told', async () => {
    const body = { line: '# mark 10:03:00 agreed', meeting: MEETING, undelivered: 'no worker yet' };
    const { seen } = await serve({ 'POST /meeting/mark': { body } });
    const { code, out, err } = await machine.svc('meeting', 'mark', 'agreed');
    expect([code, out, seen[0]?.body]).toEqual([0, '# mark 10:03:00 agreed\n', { text: 'agreed' }]);
    expect(err).toContain('no worker yet');
  });
});

describe('svc meeting play', () => {
  it('names a file that is not there', async () => {
    await serve({});
    expect(await machine.svc('meeting', 'play', 'talk.wav')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^svc: there is no file \/.*\/talk\.wav; check the path\n$/),
    });
  });
});
