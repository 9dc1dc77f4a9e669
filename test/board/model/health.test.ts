import { describe, expect, it } from 'vitest';
import { faultsOf, type Known, muxWords } from '../../../board/src/model/health.ts';
import type { AgentsReply } from '../../../board/src/model/wire.ts';

const known = (of: { state?: object; version?: object; doctor?: object } = {}) =>
  ({
    state: {
      data_dir: { path: '/d', fault: null },
      poll_health: { stores: [], mux: { state: 'alive', detail: null } },
      operator_file_errors: [],
      document_errors: { first: [] },
      blocked: [],
      deaths: [],
      contract: { ok: true },
      ...of.state,
    },
    version: { components: [], skew: [], ...of.version },
    doctor: { tools: [], path: '/bin', ...of.doctor },
  }) as unknown as Known;
const told = (all: Known) => faultsOf(all).map(({ level, of, what, mend }) => [level, of, what, mend]);

describe('what is wrong with a host', () => {
  it('is nothing when all is well, or nothing is known yet', () => {
    expect(faultsOf(known())).toEqual([]);
    expect(faultsOf({})).toEqual([]);
  });

  it('is a fault where no agent program is found, since no worker can start', () => {
    const agents = { agents: [{ id: 'opus', cli: 'claude' }], default: 'opus' } as unknown as AgentsReply;
    const doctor = (path: string | null) => ({
      ...{ path: '/bin', tools: [{ name: 'claude', path, version: null }], agents: [] },
    });
    expect(told({ ...known({ doctor: doctor(null) }), agents })).toEqual([
      ['fault', 'agents', expect.stringContaining('None of claude is found.'), 'svc doctor'],
    ]);
    expect(told({ ...known({ doctor: doctor('/bin/claude') }), agents })).toEqual([]);
  });

  it('names a component that does not run, and what fixes one that failed', () => {
    const components = [
      { name: 'poller', state: 'running', last_error: null },
      { name: 'audio', state: 'restarting', last_error: null },
      { name: 'fleet', state: 'failed', last_error: 'it ran out of memory' },
    ];
    expect(told(known({ version: { components } }))).toEqual([
      ['fault', 'fleet', 'It is failed. It ran out of memory.', 'svc daemon restart'],
      ['warning', 'audio', 'It is restarting.', null],
    ]);
  });

  it('has faults before warnings, each with the fix that the daemon knows', () => {
    const skew = [{ of: 'skills', where: '/c', what: 'of another generation', mend: 'svc setup claude' }];
    const held_back = { message: 'another daemon works on it', mend: 'stop that one' };
    const stores = [{ store: '/s', error: null, held_back }];
    const all = known({
      version: { skew },
      state: { poll_health: { stores, mux: { state: 'unknown', detail: 'no answer' } } },
      doctor: {
        tools: [
          { name: 'tmux', path: '/bin/tmux' },
          { name: 'git', path: null },
          { name: 'pi', path: null },
        ],
      },
    });
    expect(told(all)).toEqual([
      ['fault', '/s', 'Another daemon works on it.', 'stop that one'],
      ['fault', 'tmux', 'No answer.', null],
      ['warning', '/c', 'Of another generation.', 'svc setup claude'],
      [
        'warning',
        'git',
        'The daemon does not find git; its PATH is /bin.',
        'install git, or start the daemon from a shell that finds it: svc daemon restart',
      ],
    ]);
  });

  it('leads to the file and to the fiber that it is about', () => {
    const all = known({
      state: {
        operator_file_errors: [{ file: 'agents', error: 'expected a list' }],
        blocked: [{ fiber_id: 'a/b', message: 'the project folder /x does not exist' }],
        deaths: [{ fiber_id: 'c', message: 'it exited with 3' }],
      },
    });
    expect(faultsOf(all).map(({ file, fiber, what }) => [file, fiber, what])).toEqual([
      ['agents', undefined, 'Expected a list.'],
      [undefined, 'a/b', 'The project folder /x does not exist.'],
      [undefined, 'c', 'Its last worker died: it exited with 3.'],
    ]);
  });
});

describe('how the tmux server is', () => {
  it.each([
    ['absent', 'absent', null, 'no server runs; the first worker starts one'],
    ['alive', 'daemon_born', null, 'it runs; started by the daemon'],
    ['alive', 'user_born', 'session-3.scope', 'it runs; started by you (session-3.scope)'],
    ['alive', 'user_born', '/', 'it runs; started by you'],
    ['alive', 'unknown', null, 'it runs; the system does not tell what started it'],
    ['unknown', 'unknown', null, 'it does not answer'],
  ] as const)('%s, %s, %s', (state, kind, name, words) =>
    expect(muxWords({ state, detail: null, owner: { kind, name } })).toBe(words),
  );
});
