import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Meeting, MeetingAnswer } from '../../src/contract/http/meeting.ts';
import { makeRepository } from '../fixtures/repository.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { voice, writeWav } from '../kit/sound.ts';
import { AGENT, AGENTS_FOLDER } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';
import { Chromium, NO_BROWSER, type Page, type View } from './chromium.ts';
import { click, read } from './controls.ts';
import {
  addLines,
  addPast,
  addRuns,
  commitLine,
  type Past,
  type PastRun,
  sentLine,
  tides,
  writeTranscript,
  yesterday,
  yesterdayAt,
} from './past.ts';

/** Where pictures are kept: those that the documentation shows (`npm run pictures`), or with `EVERY_PICTURE` all of them. */
const KEPT = process.env.PICTURES_FOLDER;
const EVERY = process.env.EVERY_PICTURE !== undefined;
/** Shown by the README and by `phone.md`. */
const DOCUMENTED: readonly string[] = [
  'desk-light',
  'desk-dark',
  'meeting-phone-light',
  'meeting-phone-dark',
];
const HOST = 'harbor';
const LAPTOP: View = { width: 1400, height: 875 };
const PHONE: View = { width: 390, height: 844, phone: true };
const LOOKS: readonly [string, View][] = [
  ['light', LAPTOP],
  ['dark', { ...LAPTOP, scheme: 'dark' }],
  ['phone-light', PHONE],
  ['phone-dark', { ...PHONE, scheme: 'dark' }],
];

/** Each view: its address, a text that it shows and an element that it has once it is whole. */
const SHOTS: readonly [name: string, address: string, shows: string, has?: string][] = [
  ['desk', '/', 'notes-preview.html', 'article [role=img]'],
  ['fiber', '/?fiber=coast/backfill', 'Every station has a row'],
  ['day', `/?view=day&d=${yesterday()}`, 'Two crashers reduced'],
  ['week', `/?view=week&d=${yesterday()}`, 'Agents worked'],
  ['chronicle', '/?view=chronicle', 'Storm surge note'],
  ['shelf', '/?view=shelf', 'Icon set'],
  ['screen', '/?fiber=tiles/cold-start&part=screen', 'packing sprites'],
  ['stash', '/?sheet=stash', 'Stash'],
  ['capture', '/?sheet=capture', 'Capture'],
  ['find', '/?sheet=find&q=ti', 'Fibers'],
  ['hosts', '/?sheet=hosts', 'this host, live'],
  ['keys', '/?sheet=keys', 'Keys'],
  ['settings', '/?view=settings', 'Settings'],
];

const BODY = `Fill every gauge from 2019 through 2024 from the raw logger files, keeping gaps visible.

## Done when

- [x] Every station has a row for each day, or a reason for its absence
- [x] Totals match the yearly summaries to 1 mm
- [ ] The three odd loggers are settled with a human

## Counts so far

| Year | Written | Retried | Odd |
| ---- | ------: | ------: | --: |
| 2021 |     221 |       4 |   3 |
| 2022 |     230 |       2 |   0 |

\`\`\`
ingest --from 2019-01-01 --station 17 --check sums
\`\`\`

## The odd logger

Station 17 wrote nine days with the clock at zero. The pressure record is intact and lines up with both neighbours to
4 minutes, so the days can be placed, but not trusted to the hour.
`;

/** A program before a commit and after it. */
const INGEST = ['before', 'after'].map(
  (when) => `import { open } from './station.js';

/** Reads one day of a logger, and checks its sums. */
export async function ingestDay(station, day) {
${when === 'before' ? '  const rows = await open(station).rows(day);\n  if (rows.length === 0) return null;' : "  const rows = await open(station).rows(day, { gaps: 'keep' });\n  if (rows.length === 0) return { station, day, reason: 'no row was written' };"}
  const sum = rows.reduce((all, { height }) => all + height, 0);
  return { station, day, rows, sum };
}
`,
);

let daemon: TestDaemon;
let commit: string;
let scratch: ScratchFolder;
let browser: Chromium;
/** The uids of the fibers, by their ids. */
const uids = new Map<string, string>();
/** What is said in a meeting, in the form of a transcript. */
const SAID = `10:02:11-10:02:16 S1 the odd logger is placed to four minutes, and no better
10:02:17-10:02:21 S2 then we keep its days and say so in the report
10:02:24-10:02:30 S1 agreed, and the two others wait until somebody has been there
10:02:33-10:02:36 S2 I can go on Thursday if the road is open
`;
const RECORDER = fileURLToPath(new URL('../fixtures/meetings/stand-in-recorder.mjs', import.meta.url));

const folder = KEPT ?? mkdtempSync(join(tmpdir(), 'svc-pictures-'));

async function prepare(home: TestDaemon['home']): Promise<void> {
  const [talks = ''] = AGENT.talks;
  const agent = (id: string, is_default = false) => ({
    ...{ id, harness: 'claude', cli: join(AGENTS_FOLDER, talks), args: [], effort_levels: ['low', 'high'] },
    ...{ default: is_default, env: { CLAUDE_CONFIG_DIR: home.claude } },
  });
  home.write('config/agents.json', {
    version: 1,
    builtins: 'restrict',
    agents: [agent('atlas', true), agent('birch'), agent('cobalt')],
  });
  const day = (from_now: number) => new Date(Date.now() + from_now * 86_400_000).toISOString().slice(0, 10);
  const hour = (from_now: number) => new Date(Date.now() + from_now * 3_600_000).toISOString();
  const fiber = (id: string, name: string, agent: string, front: object, svc: object = {}, body?: string) =>
    uids.set(
      id,
      home.fiber(id, {
        front: { name, status: 'open', ...front },
        svc: { host: HOST, agent, ...svc },
        ...(body === undefined ? {} : { body }),
      }),
    );
  fiber('atlas/print', 'Tidal atlas: print edition layout', 'atlas', {
    due: day(0),
    outcome: 'Grid and margins agreed; chapter order still open.',
  });
  fiber('viewer/depth', 'Colour check for depth maps', 'birch', {
    due: day(2),
    outcome: 'Compare four ramps under deuteranopia; pick one and write down why.',
  });
  fiber('reports/q4', 'Quarterly report: figures 3 to 7', 'cobalt', {
    due: day(4),
    outcome: 'Outline only.',
  });
  fiber('ingest/rename', 'Rename gauges to station codes', 'atlas', {
    outcome: 'Waits for the backfill to land.',
  });
  fiber('tools/bench', 'Benchmark: columnar store', 'birch', {
    outcome: 'Load the 40 GB sample, three engines, one afternoon.',
  });
  fiber(
    'coast/backfill',
    'Tide gauge ingest: backfill 2019 to 2024',
    'atlas',
    {
      due: day(1),
      outcome:
        '1,204 of 1,380 station-days written. Checksum mismatches are down to three, all from one logger that lost its clock for nine days in March 2021.',
      collaboration: { reviewer: ['birch'], writer: [] },
    },
    {},
    BODY,
  );
  fiber('parser/fuzz', 'Parser fuzzing: odd encodings', 'birch', {
    outcome:
      'Two crashers reduced to 14 bytes. The second needs a choice about lone surrogates before the patch is written.',
  });
  fiber('tiles/cold-start', 'Map tiles: halve the cold start', 'cobalt', {
    outcome:
      'Sprite sheet split by zoom; first paint 1.9 s to 1.1 s on the slow profile. Now measuring font subsetting.',
  });
  fiber('forms/offline', 'Survey form: offline drafts', 'atlas', {
    outcome: 'Queue persists across reload; conflict screen drafted. Running the airplane-mode script.',
  });
  fiber(
    'mirror/sums',
    'Mirror: checksum sweep',
    'birch',
    { status: 'active' },
    { project_dir: '/srv/mirror' },
  );
  fiber('release/notes', 'Release notes generator', 'atlas', {
    status: 'closed',
    'closed-at': hour(-2),
    outcome: 'Groups commits by area and links each to its fiber. Two wording questions are marked.',
  });
  fiber('coast/surge', 'Storm surge note', 'cobalt', {
    status: 'closed',
    'closed-at': hour(-30),
    outcome: 'Two pages, four figures. The November peak is third highest since 1987, not second.',
  });
  fiber(
    'ops/station-health',
    'Station health',
    'birch',
    { status: 'active' },
    { kind: 'standing', schedule: '30 7 * * *', tz: 'UTC' },
  );
  fiber(
    'desk/inbox',
    'Inbox sweep',
    'atlas',
    { status: 'active' },
    { kind: 'standing', schedule: '0 16 * * *', tz: 'UTC' },
  );
  fiber('desk/triage', 'Triage', 'atlas', {}, { kind: 'pinned' });
  fiber('desk/reading', 'Reading list', 'birch', {}, { kind: 'pinned' });
  for (const [id, name, days] of [
    ['rest/kiosk', 'Kiosk screens', 1],
    ['rest/buoy', 'Buoy 4 replacement', 1],
    ['rest/slides', 'Workshop slides', 3],
    ['rest/archive', 'Archive move', 20],
  ] as const)
    fiber(id, name, 'atlas', { horizon: 'stashed', due: day(days) });
  fiber('rest/icons', 'Icon set', 'cobalt', { horizon: 'stashed' });
}

/** What a fiber did yesterday: its hours of work, and when a person spoke and it waited, in hours. */
type Done = { work: readonly [number, number][]; spoke: readonly number[]; waits?: readonly number[] } & (
  | { ended: [number, string] }
  | { died: [number, string] }
);

/** A day of ten fibers, as the ledgers tell it. */
const DONE: Readonly<Record<string, Done>> = {
  'coast/backfill': {
    work: [
      [6.1, 7.1],
      [7.3, 9],
      [10, 12.4],
      [12.8, 14.1],
    ],
    spoke: [6.1, 7.3, 10, 10.35, 12.72],
    waits: [14.1],
    ended: [15.5, 'kill'],
  },
  'tiles/cold-start': {
    work: [
      [8.55, 9.8],
      [10.5, 12],
      [12.6, 15.2],
    ],
    spoke: [8.55, 9.73, 10.5, 11.62, 12.42, 12.55],
    ended: [15.3, 'handoff'],
  },
  'forms/offline': {
    work: [
      [11.3, 12],
      [13.4, 15.4],
    ],
    spoke: [11.3, 13.4],
    ended: [15.4, 'exited'],
  },
  'parser/fuzz': {
    work: [
      [6.6, 8.6],
      [9.5, 10.8],
      [12, 14.3],
    ],
    spoke: [6.6, 12],
    died: [14.3, 'the agent exited with 137'],
  },
  'release/notes': { work: [[6.05, 8]], spoke: [6.3, 6.5, 7.1, 8], ended: [8.1, 'handoff'] },
  'coast/surge': { work: [[7.7, 8.5]], spoke: [7.7, 8.45], ended: [8.6, 'handoff'] },
  'ops/station-health': { work: [[7.5, 7.7]], spoke: [], ended: [7.75, 'handoff'] },
  'desk/reading': {
    work: [
      [6.4, 6.8],
      [8.85, 9.2],
      [10.95, 11.3],
      [13.1, 13.5],
    ],
    spoke: [6.4, 8.85, 10.95, 13.1],
    ended: [13.6, 'exited'],
  },
  'mirror/sums': { work: [[13.8, 15.4]], spoke: [13.8], ended: [15.4, 'exited'] },
  'desk/inbox': { work: [[6, 6.4]], spoke: [], ended: [6.45, 'handoff'] },
};

function writeYesterday(home: TestDaemon['home']): void {
  const end_of_day = yesterdayAt(24);
  const ago = (hour: number) => Math.round((24 - hour) * 60);
  const sessionOf = (id: string) => `past-${id.replace('/', '-')}`;
  const past: Past[] = [];
  const runs: PastRun[] = [];
  for (const [nth, [fiber, done]] of Object.entries(DONE).entries()) {
    const session = sessionOf(fiber);
    const [over, how] = 'died' in done ? done.died : done.ended;
    const death = { reason: 'exited', detail: how, mend: 'resume it' };
    const end = { at: yesterdayAt(0, over * 60), ...('died' in done ? death : { reason: how }) };
    const from = yesterdayAt(0, (done.work[0]?.[0] ?? 0) * 60);
    runs.push({ fiber, uid: uids.get(fiber) ?? '', session, host: HOST, from, end });
    past.push({
      session,
      work: done.work.map(([begin, last]) => [ago(begin), ago(last), tides(nth + 1)] as const),
      words: done.spoke.map(ago),
      waits: (done.waits ?? []).map(ago),
      replies: done.work.map(([, last]) => ago(last)),
    });
  }
  addRuns(home, runs);
  addPast(home, end_of_day, past);
  const commits: [hour: number, fiber: string, subject: string, lines: [number, number]][] = [
    [8.9, 'coast/backfill', 'Keep gaps as rows', [212, 31]],
    [11.9, 'coast/backfill', 'Retry the loggers that lost their clock', [400, 57]],
    [11.2, 'tiles/cold-start', 'Split the sprite sheet by zoom', [238, 301]],
    [14.2, 'tiles/cold-start', 'Subset the fonts of the map', [96, 12]],
    [10.7, 'parser/fuzz', 'Reduce the second crasher to 14 bytes', [74, 9]],
    [8, 'release/notes', 'Group commits by area', [402, 57]],
  ];
  addLines(
    home,
    'commits.jsonl',
    commits.map(([hour, fiber, subject, lines]) =>
      commitLine(yesterdayAt(0, hour * 60), sessionOf(fiber), subject, lines),
    ),
  );
  addLines(home, 'events.jsonl', [
    sentLine(yesterdayAt(7, 55), sessionOf('release/notes'), ['/srv/notes-preview.html']),
    sentLine(yesterdayAt(8, 25), sessionOf('coast/surge'), ['/srv/surge.pdf']),
    sentLine(yesterdayAt(6, 20), sessionOf('desk/inbox'), ['/srv/digest.html']),
  ]);
  const talks: Readonly<Record<string, [person: string, agent: string]>> = {
    'coast/backfill': ['Keep every gap visible.', 'Writing 2022. 310 station-days to go, two files retried.'],
    'parser/fuzz': ['Reduce them first.', 'The first one is down to 14 bytes.'],
    'release/notes': ['Link each to its fiber.', 'Six past releases regenerate with no manual edits.'],
  };
  for (const fiber of Object.keys(DONE)) {
    const [person, agent] = talks[fiber] ?? ['Go on.', 'On it: the next step is under way.'];
    const minutes = Array.from({ length: 120 }, (_, nth) => 6 * 60 + nth * 5);
    const said = minutes.flatMap((minute) => [
      [yesterdayAt(0, minute), 'user', person] as const,
      [yesterdayAt(0, minute + 1), 'assistant', agent] as const,
    ]);
    writeTranscript(home, sessionOf(fiber), said);
  }
}

/** Starts the worker of a fiber and has it run a script; answers its session. */
async function worker(fiber: string, script: (session: string) => string): Promise<string> {
  await daemon.dispatch({ fiber_id: fiber, force: true });
  const { runtime } = await daemon.running(fiber);
  const session = runtime.session_uuid ?? '';
  daemon.home.write(`projects/${fiber.split('/').at(-1)}/orders`, script(session));
  return session;
}

/** Commits something as the agent of a session; answers the name of the commit. */
function addCommit(session: string): string {
  const repository = makeRepository(daemon.home.path('gauges'));
  const [before = '', after = ''] = INGEST;
  const write = (name: string, text: string) => writeFileSync(join(repository.path, name), text);
  write('ingest.js', before);
  write('stations.csv', 'code,name\n17,Outer mole\n');
  repository.commit('Begin');
  write('ingest.js', after);
  write('stations.csv', 'code,name\n17,Outer mole\n18,Old lock\n');
  write('map.png', '\0');
  const sha = repository.commit(
    'Keep gaps as rows\n\nA day without a row was skipped in silence. It now has a row with the reason,\nso that yearly counts add up.',
  );
  const line = {
    ...{ at: Date.now(), kind: 'commit', sha, subject: 'Keep gaps as rows', repo: repository.path },
    ...{ files: 3, insertions: 3, deletions: 2, session, mux: null, cwd: repository.path },
  };
  appendFileSync(join(daemon.home.data, 'commits.jsonl'), `${JSON.stringify(line)}\n`);
  return sha;
}

const hook = (session_id: string, event: object) =>
  `echo '${JSON.stringify({ session_id, ...event })}' | svc hook event\n`;
const asks = (session: string) =>
  hook(session, { hook_event_name: 'PermissionRequest', tool_name: 'Bash', tool_input: { command: 'make' } });
const works = (session: string) => hook(session, { hook_event_name: 'UserPromptSubmit', prompt: 'Go on.' });

/** Keeps a picture where it was asked for. */
async function keep(page: Page, name: string): Promise<void> {
  if (KEPT === undefined || EVERY) writeFileSync(join(folder, `${name}.png`), await page.photo());
  else if (DOCUMENTED.includes(name)) writeFileSync(join(folder, `${name}.webp`), await page.photo('webp'));
}

describe.skipIf(NO_BROWSER !== null)('pictures of every view', () => {
  beforeAll(async () => {
    scratch = scratchFolder();
    const heard = join(scratch.path, 'voice.wav');
    writeWav(heard, voice(60));
    browser = new Chromium({}, heard);
    daemon = await startTestDaemon({ settings: { SVC_HOST: HOST, SVC_RECORDER: RECORDER }, prepare });
    writeYesterday(daemon.home);
    const backfill = await worker('coast/backfill', asks);
    const fuzz = await worker('parser/fuzz', asks);
    const tiles = await worker(
      'tiles/cold-start',
      (session) =>
        `${works(session)}printf '\\033[1m● packing sprites\\033[0m\\n  zoom 4: 212 of 212\\n\\033[32m  zoom 5: 388 of 410\\033[0m\\n' > /dev/tty\n`,
    );
    const forms = await worker('forms/offline', works);
    addPast(daemon.home, Date.now(), [
      { session: backfill, work: [[82, 9, tides(1)]], words: [80, 41] },
      { session: fuzz, work: [[64, 4, tides(2)]], words: [66] },
      { session: tiles, work: [[88, 0, tides(3)]], words: [70, 26] },
      { session: forms, work: [[52, 0, tides(4)]], words: [54, 31] },
    ]);
    commit = addCommit(backfill);
    await daemon.rowWhen('parser/fuzz', 'asking', ({ runtime }) => runtime?.phase === 'waiting');
    await daemon.rowWhen('forms/offline', 'working', ({ runtime }) => runtime?.phase === 'working');
    await daemon.rowWhen('mirror/sums', 'blocked', (row) => row.blocked !== undefined);
    mkdirSync(folder, { recursive: true });
  });

  afterAll(async () => {
    for (const { runtime, id } of await daemon.fibers()) if (runtime !== undefined) await daemon.kill(id);
    await browser?.close();
    await daemon?.dispose();
    scratch?.remove();
    if (KEPT === undefined) rmSync(folder, { recursive: true, force: true });
  });

  it.each(LOOKS)('are whole, in %s', async (look, view) => {
    const page = await browser.open('about:blank', { view: (one) => one.look(view) });
    const part = `/?fiber=coast/backfill&part=commit ${commit}`;
    const shots = [...SHOTS, ['commit', part, 'A day without a row'] as const];
    for (const [name, address, shows, has = 'body'] of shots) {
      await page.show(`http://${daemon.address}${address}`);
      await until(`${name} in ${look}`, () =>
        page.run<boolean>(
          '(shows, has) => document.body.innerText.includes(shows) && document.querySelector(has) !== null',
          shows,
          has,
        ),
      );
      // Fonts come after the first paint, and a sheet slides in.
      await page.learn('document.fonts.ready.then(() => undefined)');
      await page.settled();
      const fits = await page.learn<boolean>('document.documentElement.scrollWidth <= innerWidth');
      expect(fits, `${name} is as wide as the page`).toBe(true);
      await keep(page, `${name}-${look}`);
      expect(page.complaints, name).toEqual([]);
    }
  });

  it('are whole while a meeting is recorded', async () => {
    const asked = { fiber_id: 'coast/backfill', note: 'The odd logger', meeting: { mode: 'phone' } };
    const { body } = await daemon.http.post<{ meeting: Meeting }>('/meeting/join', asked);
    appendFileSync(body.meeting.transcript, SAID);
    for (const [look, view] of LOOKS) {
      const page = await browser.open('about:blank', { view: (one) => one.look(view) });
      await page.show(`http://${daemon.address}/?view=meeting`);
      await click(page, 'Use this phone as the microphone');
      await read(page, 'This phone is the microphone.');
      await until('how loud it is', () =>
        page.learn<boolean>("document.querySelector('meter')?.value > 0.5"),
      );
      await page.learn('document.fonts.ready.then(() => undefined)');
      await page.settled();
      await keep(page, `meeting-${look}`);
      expect(page.complaints).toEqual([]);
    }
    await daemon.http.post('/meeting/stop', {});
    await until(
      'its end',
      async () => (await daemon.http.get<MeetingAnswer>('/meeting')).body.meeting === null,
    );
  });
});
