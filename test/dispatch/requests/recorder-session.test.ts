import { describe, expect, it } from 'vitest';
import { startRecorder } from '../../../src/dispatch/requests/recorder-session.ts';
import type { Created } from '../../../src/mux/mux.ts';

const SPEC = { name: 'recorder-meeting', cwd: '/', command: ['/bin/sh', 'record.sh'] };
const FAILED = { kind: 'failed', code: 'mux_unavailable', detail: 'the session ended at once' } as const;

type World = Parameters<typeof startRecorder>[0];

function start(created: Created) {
  const mux = { create: async () => created } as unknown as World['mux'];
  const processes = {
    identify: async (pid: number) => ({ pid, start_time: '7' }),
  } as unknown as World['processes'];
  return startRecorder({ mux, processes }, SPEC);
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
});
