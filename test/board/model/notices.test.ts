import { describe, expect, it } from 'vitest';
import { type Notice, noticesOf, pulledText, resumedText } from '../../../board/src/model/notices.ts';
import type { Incident, State } from '../../../board/src/model/wire.ts';

const AT = new Date(2026, 10, 23, 14, 2).getTime();

/** The parts of `GET /state` that notices are made of, when all is well. */
function state(of: Partial<State> = {}): State {
  return {
    host: 'host-a',
    brake: { on: false, since: null, note: null },
    incidents: [],
    data_dir: { path: '/d', fault: null },
    start_gate: { hold: null, waiting: 0 },
    operator_file_errors: [],
    captures: [],
    poll_health: { stores: [] },
    ...of,
  } as unknown as State;
}

const cutOff = (fiber_id: string, refused: string | null = null) =>
  ({ fiber_id, refused }) as Incident['fibers'][number];
const capture = (of: object) =>
  ({
    run_id: 'run-1',
    agent: 'atlas',
    project_dir: '/srv/loader',
    state: 'running',
    ended_reason: null,
    text_file: null,
    ...of,
  }) as State['captures'][number];
const shown = ({ title, text, acts }: Notice) => [title, text, ...acts.map((act) => act.text)];

describe('what a host has to tell', () => {
  it('is nothing when all is well', () => {
    expect(noticesOf(state())).toEqual([]);
  });

  it.each([
    ['stale', AT, '/srv/notes is shown as of 14:02'],
    ['cold', null, '/srv/notes could not be read yet'],
    ['ok', AT, 'Not all of /srv/notes could be read'],
  ])(
    '[DSP-1] is of a store that is %s its name, its time and its reason, with a way to see more',
    (now, last_ok_at, title) => {
      const store = { store: '/srv/notes', state: now, last_ok_at, error: 'its disk does not answer' };
      const [notice] = noticesOf(state({ poll_health: { stores: [store] } as never }));
      expect(shown(notice!)).toEqual([
        title,
        'Its disk does not answer. It is read again by itself.',
        'Try again now',
      ]);
      const [again] = notice!.acts;
      expect(again).toMatchObject({ path: '/fiber-stores/sweep', body: { store: '/srv/notes' } });
      expect(again!.done({ ...store, error: null } as never)).toBe('/srv/notes was read.');
      expect(again!.done(store as never)).toBe('/srv/notes could not be read: Its disk does not answer.');
      expect(notice!.part).toEqual({ name: 'health', text: 'Show why' });
    },
  );

  it('is who was cut off by what, and how to go on', () => {
    const incident: Incident = {
      id: 'i-1',
      cause: 'server_lost',
      at: AT,
      fibers: [cutOff('a'), cutOff('b', 'project_dir is gone')],
    };
    const [notice] = noticesOf(state({ incidents: [incident] }));
    expect(shown(notice!)).toEqual([
      'The tmux server was lost at 14:02',
      'It cut off 2 workers: a, b. b: project_dir is gone.',
      'Dismiss',
      'Resume all',
    ]);
    expect(notice!.acts.map(({ path, body }) => [path, body])).toEqual([
      ['/incidents/dismiss', { id: 'i-1' }],
      ['/incidents/resume', { id: 'i-1' }],
    ]);
  });

  it.each([
    ['server_replaced', /another one runs/],
    ['reboot', /machine was restarted/],
    ['memory_limit', /memory limit/],
  ] as const)('names the cause %s', (cause, title) => {
    const incident: Incident = { id: 'i', cause, at: AT, fibers: [cutOff('a')], message: 'more of it' };
    const [notice] = noticesOf(state({ incidents: [incident] }));
    expect(notice!.title).toMatch(title);
    expect(notice!.text).toBe('It cut off the worker of a. More of it.');
  });

  it('is the brake with its note, before everything but a lost data folder', () => {
    const brake = { on: true, since: AT, note: 'the disk is full', fault: 'it was not written' };
    const notices = noticesOf(
      state({
        brake,
        incidents: [{ id: 'i', cause: 'reboot', at: AT, fibers: [] }],
        data_dir: { path: '/d', fault: 'the folder was replaced' },
      }),
    );
    expect(notices.map(({ key }) => key)).toEqual(['data-dir', 'brake', 'incident-i']);
    expect(shown(notices[1]!)).toEqual([
      'The emergency brake is on since 14:02',
      'Nothing starts on host-a. “the disk is full” It was not written.',
      'Release the brake',
    ]);
  });

  it('is why starts wait and which file is not valid', () => {
    const notices = noticesOf(
      state({
        start_gate: { hold: { message: 'memory is low', mend: 'end a program' }, waiting: 2 },
        operator_file_errors: [{ file: 'agents', path: '/c/agents.json', error: 'agents: expected a list' }],
      }),
    );
    expect(notices.map(shown)).toEqual([
      ['2 starts wait', 'Memory is low. End a program.'],
      ['agents.json is not valid', 'agents: expected a list.'],
    ]);
  });

  it('is a capture that made no fiber, and how many are still being filed', () => {
    const notices = noticesOf(
      state({
        captures: [
          capture({ state: 'ended', ended_reason: 'its agent exited with 1', text_file: '/d/text.md' }),
          capture({ run_id: 'run-2' }),
          capture({ run_id: 'run-3' }),
        ],
      }),
    );
    expect(notices.map(shown)).toEqual([
      [
        'A capture in loader by atlas made no fiber',
        'Its agent exited with 1. Its text is kept in /d/text.md.',
        'Dismiss',
      ],
      ['2 captures are being filed', 'By atlas in loader.'],
    ]);
    expect(notices[0]!.acts[0]).toMatchObject({ path: '/incidents/dismiss', body: { id: 'run-1' } });
  });

  it.each([
    ['agent_missing', 'The program of its agent was not found.'],
    ['session_gone', 'Its terminal was closed.'],
    ['exited with 1', 'Exited with 1.'],
    ['new_reason', 'New reason.'],
  ])('says in words why a capture ended: %s', (ended_reason, text) => {
    expect(noticesOf(state({ captures: [capture({ state: 'ended', ended_reason })] }))[0]?.text).toBe(text);
  });

  it('offers to capture a kept text again, as it was asked for', () => {
    const lost = (of: object) =>
      noticesOf(state({ captures: [capture({ state: 'ended', ended_reason: null, ...of })] }))[0]?.again;
    const asked = { store: '/s', surface: 'app', effort: null };
    expect(lost({ ...asked, text_file: null })).toBeUndefined();
    expect(lost({ ...asked, text_file: '/d/text.md' })).toEqual({
      run_id: 'run-1',
      text_file: '/d/text.md',
      request: { project_dir: '/srv/loader', agent: 'atlas', store: '/s', surface: 'app' },
    });
    expect(lost({ ...asked, effort: 'high', text_file: '/d' })?.request).toMatchObject({ effort: 'high' });
  });
});

describe('what came of it', () => {
  it('tells the outcome of every fiber of an incident', () => {
    const of = (
      fiber_id: string,
      outcome: 'started' | 'running' | 'not_armed' | 'refused',
      message = null,
    ) => ({
      fiber_id,
      outcome,
      message,
    });
    const fibers = [of('a', 'started'), of('b', 'started'), of('c', 'not_armed'), of('d', 'refused')];
    expect(resumedText({ fibers, incidents: [] })).toBe(
      '2 fibers have workers again. 1 fiber is not armed any more. d: refused.',
    );
    expect(resumedText({ fibers: [], incidents: [] })).toBe('There was nothing left to resume.');
  });

  it('tells what the brake ended and what it could not end', () => {
    expect(
      pulledText({
        stopped: true,
        changed: true,
        since: AT,
        note: null,
        running: ['a'],
        killed: ['b'],
        not_killed: [{ fiber_id: 'c', message: 'its process stays' }],
      }),
    ).toBe('The brake is on. Ended: b. Still running: a. c: Its process stays.');
  });
});
