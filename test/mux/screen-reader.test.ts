import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import type { MuxScreen } from '../../src/mux/mux.ts';
import { readScreen } from '../../src/mux/screen-reader.ts';
import { createPrivateServer, type PrivateServer, until } from '../fixtures/mux/private-server.ts';

let server: PrivateServer;
beforeEach(() => {
  server = createPrivateServer();
});
afterEach(() => server.dispose());

type Read = MuxScreen & { kind: 'read' };

describe.each([['the control client'], ['runs of tmux']])('the screen of a session by %s', (way) => {
  async function open(script: string) {
    const mux = server.open(way === 'runs of tmux' ? { control: 'never' } : {});
    const made = await mux.create({ name: 'work', cwd: server.dir, command: ['/bin/sh', '-c', script] });
    if (made.kind !== 'created') throw new Error(JSON.stringify(made));
    const { session } = made;
    const target = { id: session.panes[0]!.id, pid: session.panes[0]!.pid! };
    const read = async (history: number, since: Read['mark'] | null = null) =>
      mux.screen(target, { history, since });
    const shown = (what: string, history = 0) =>
      until(what, async () => {
        const screen = await read(history);
        return screen.kind === 'read' && screen.lines.some((line) => line.includes(what)) ? screen : null;
      });
    return { mux, session, target, read, shown };
  }

  it('is its lines with their attributes, and as much of its history as was asked for', async () => {
    const { shown } = await open(
      'i=0; while [ $i -lt 80 ]; do echo "line $i"; i=$((i+1)); done; printf "\\033[1;31mred 世界\\033[0m"; exec sleep 600',
    );
    const screen = await shown('red', 10);
    expect(screen).toMatchObject({ first: 21, cheap: way === 'the control client' });
    expect(screen.mark).toMatchObject({ columns: 200, rows: 50, history: 31 });
    expect(screen.lines).toHaveLength(60);
    expect(screen.lines[0]).toBe('line 21');
    expect(screen.lines.at(-1)).toContain('\u001b[1m\u001b[31mred 世界');
    expect((await shown('red', 500)).lines[0]).toBe('line 0');
  });

  it('is told as the same while nothing was written, and read again after that', async () => {
    const flag = join(server.dir, 'go');
    const { read, shown } = await open(
      `echo before; while ! [ -e '${flag}' ]; do sleep 0.05; done; echo after; exec sleep 600`,
    );
    let { mark } = await shown('before');
    await until('the same', async () => {
      const screen = await read(0, mark);
      if (screen.kind === 'read') mark = screen.mark;
      return screen.kind === 'same';
    });
    writeFileSync(flag, '');
    const screen = await until('the change', async () => {
      const next = await read(0, mark);
      return next.kind === 'read' ? next : null;
    });
    if (!screen.lines.includes('after')) await shown('after');
  });

  it('is that of the first pane, whichever a person looks at, and of any size', async () => {
    const { read, shown } = await open('echo agent; exec sleep 600');
    const { mark } = await shown('agent');
    await server.tmux('split-window', '-t', '=work:', 'echo person; exec sleep 600');
    const screen = (await until('the new size', async () => {
      const next = await read(0, mark);
      return next.kind === 'read' && next.mark.rows < 50 ? next : null;
    })) as Read;
    expect(screen.lines.join()).toContain('agent');
    expect(screen.lines.join()).not.toContain('person');
    await server.tmux('resize-window', '-t', '=work:', '-x', '4000', '-y', '400');
    const wide = (await until('the large size', async () => {
      const next = await read(500);
      return next.kind === 'read' && next.mark.columns === 4_000 ? next : null;
    })) as Read;
    expect(wide.lines.length * wide.mark.columns).toBeLessThanOrEqual(200_000);
  });

  it('is gone with its session, for another pane, and where another process has the id', async () => {
    const { mux, session, target, read, shown } = await open('echo agent; exec sleep 600');
    const { mark } = await shown('agent');
    expect(await mux.screen({ ...target, pid: target.pid + 1 }, { history: 0, since: mark })).toEqual({
      kind: 'gone',
    });
    expect(await mux.screen({ ...target, id: '%99' }, { history: 0, since: null })).toEqual({ kind: 'gone' });
    await mux.kill(session);
    expect(await read(0, mark)).toEqual({ kind: 'gone' });
    expect(await read(0)).toEqual({ kind: 'gone' });
  });
});

describe('the screen of a session', () => {
  const facts = (size: string) => `7 0 ${size} 0`;
  const mark = { columns: 80, rows: 2, history: 0, read_at_s: 0 };
  const target = { id: '%1', pid: 7 };

  it('is read once more where its size was another one, and not for ever', async () => {
    const clock = new FakeClock();
    let asked = 0;
    const resized = async () => {
      asked += 1;
      return { answer: { kind: 'done' as const, text: `${facts(`${80 + asked} 2`)}\n` }, cheap: true };
    };
    expect(await readScreen(resized, clock, target, { history: 0, since: mark })).toMatchObject({
      kind: 'unknown',
    });
    expect(asked).toBeLessThan(6);
  });

  it('is unknown, with the reason, where tmux does not answer', async () => {
    const silent = async () => ({ answer: { kind: 'unknown' as const, detail: 'it sleeps' }, cheap: false });
    for (const since of [mark, null])
      expect(await readScreen(silent, new FakeClock(), target, { history: 0, since })).toEqual({
        kind: 'unknown',
        detail: 'it sleeps',
      });
  });
});
