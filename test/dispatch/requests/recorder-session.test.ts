import { describe, expect, it } from 'vitest';
import {
  endRecorder,
  recorderSession,
  startRecorder,
} from '../../../src/dispatch/requests/recorder-session.ts';
import type { Created, MuxListing } from '../../../src/mux/mux.ts';

const SPEC = { name: 'recorder-meeting', cwd: '/', command: ['/bin/sh', 'record.sh'] };
const FAILED = { kind: 'failed', code: 'mux_unavailable', detail: 'the session ended at once' } as const;

type World = Parameters<typeof startRecorder>[0];

function start(created: Created) {
  const mux = {
    create: async () => created,
    list: async () => ({ kind: 'absent' }),
  } as unknown as World['mux'];
  const processes = {
    identify: async (pid: number) => ({ pid, start_time: '7' }),
  } as unknown as World['processes'];
  return startRecorder(
    { mux, processes, logger: { warn: () => undefined } as unknown as World['logger'] },
    SPEC,
  );
}

describe('the session of a recorder', () => {
  it('[MTS-4] was started also where its recorder had ended before anybody saw it', async () => {
    expect(await start({ ...FAILED, ended: true })).toEqual({ kind: 'created', process: null });
  });

  it('was not started where tmux does not tell', async () => {
    const silent = { ...FAILED, detail: 'tmux did not answer' };
    expect(await start(silent)).toEqual(silent);
    expect(await start({ kind: 'duplicate' })).toEqual({ kind: 'duplicate' });
  });

  it('tells the process of its recorder', async () => {
    const panes = [{ id: '%1', pid: 42, dead: false, launch_id: null }];
    const session = { name: SPEC.name, id: '$1', created_at: 0, attached: 0, panes };
    expect(await start({ kind: 'created', session })).toEqual({
      kind: 'created',
      process: { pid: 42, start_time: '7' },
    });
  });

  describe('where a session has only the name of one', () => {
    const RESTORED = { id: '%1', pid: 42, dead: false, launch_id: null };
    const MEETING = '2026-11-29-1030-budget-4z8k2q';
    function tmux(
      panes: (typeof RESTORED | { id: string; pid: number; dead: boolean; launch_id: string })[],
    ) {
      const done: string[] = [];
      const listing: MuxListing = {
        kind: 'alive',
        sessions: [{ name: SPEC.name, id: '$1', created_at: 0, attached: 0, panes }],
      };
      const does = <T>(what: string, answer: T): T => {
        done.push(what);
        return answer;
      };
      const mux = {
        list: async () => listing,
        rename: async (_: unknown, name: string) => does(`renamed to ${name}`, 'renamed'),
        kill: async ({ id }: { id: string }) => does(`ended ${id}`, 'killed'),
        create: async () => does('created', { ...FAILED, ended: true }),
      } as unknown as World['mux'];
      const processes = { identify: async (pid: number) => ({ pid, start_time: '7' }) };
      return { done, world: { mux, processes, logger: { warn: () => undefined } } as unknown as World };
    }

    it('is no recorder, and is renamed by a start, not ended', async () => {
      const { done, world } = tmux([RESTORED]);
      expect(await recorderSession(world, { name: MEETING })).toEqual({ kind: 'gone' });
      expect(await endRecorder(world, { name: MEETING })).toEqual({ ended: 'gone' });
      expect(await startRecorder(world, SPEC)).toEqual({ kind: 'created', process: null });
      expect(done).toEqual(['renamed to recorder-meeting-not-ours', 'created']);
    });

    it('is left alone where the recorder of another daemon runs in it', async () => {
      const { done, world } = tmux([{ ...RESTORED, launch_id: '2026-11-29-0900-other-aaaaaa' }]);
      expect(await recorderSession(world, { name: MEETING })).toEqual({ kind: 'gone' });
      expect(await endRecorder(world, { name: MEETING })).toEqual({ ended: 'gone' });
      expect(await startRecorder(world, SPEC)).toEqual({ kind: 'duplicate' });
      expect(done).toEqual([]);
    });

    it('is the recorder where the script of its meeting was started in it', async () => {
      const { done, world } = tmux([RESTORED, { id: '%2', pid: 43, dead: false, launch_id: MEETING }]);
      expect(await recorderSession(world, { name: MEETING })).toMatchObject({ process: { pid: 43 } });
      expect(await endRecorder(world, { name: MEETING })).toEqual({ ended: 'killed' });
      expect(done).toEqual(['ended $1']);
    });
  });
});
