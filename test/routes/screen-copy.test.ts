import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyScreen, NO_SCREEN, type Screen } from '../../board/src/model/screen.ts';
import { type ScreenMessage, terminalMessageSchema } from '../../src/contract/http/terminal.ts';
import { type Capture, ScreenCopy } from '../../src/routes/screen-copy.ts';

/** A reader that was told everything up to some version. */
class Reader {
  screen: Screen = NO_SCREEN;
  version = 0;

  read(copy: ScreenCopy): ScreenMessage | null {
    const bytes = copy.since(this.version);
    this.version = copy.version;
    if (bytes === null) return null;
    const message = terminalMessageSchema.parse(JSON.parse(String(bytes))) as ScreenMessage;
    this.screen = applyScreen(this.screen, message);
    return message;
  }

  get text(): string[] {
    return this.screen.lines.map((runs) =>
      runs.map((run) => (typeof run === 'string' ? run : run.text)).join(''),
    );
  }
}

const json = (text: string) => JSON.stringify(text === '' ? [] : [text]);

/** A terminal of few lines; `captured` as tmux would answer, with some of its history. */
class Terminal {
  columns = 80;
  rows = 4;
  /** All lines, history first. */
  lines: string[] = ['', '', '', ''];

  get history(): number {
    return this.lines.length - this.rows;
  }

  captured(history: number): Capture {
    const first = Math.max(0, this.history - history);
    return { columns: this.columns, history: this.history, first, lines: this.lines.slice(first).map(json) };
  }

  /** As the route does: a short capture, and a long one where that leaves a gap. */
  tell(copy: ScreenCopy): void {
    if (copy.take(this.captured(3), { whole: copy.version === 0 }) === 'gap')
      expect(copy.take(this.captured(12), { whole: true })).toBe('taken');
  }
}

describe('the copy of a screen', () => {
  it('tells everything at first, then the lines that changed, then nothing', () => {
    const [terminal, copy, reader] = [new Terminal(), new ScreenCopy(), new Reader()];
    terminal.lines = ['a', 'b', '', ''];
    terminal.tell(copy);
    expect(reader.read(copy)?.lines).toEqual([
      { n: 0, runs: ['a'] },
      { n: 1, runs: ['b'] },
    ]);
    terminal.lines = ['a', 'c', '', ''];
    terminal.tell(copy);
    expect(reader.read(copy)?.lines).toEqual([{ n: 1, runs: ['c'] }]);
    terminal.tell(copy);
    expect(reader.read(copy)).toBeNull();
    expect(reader.text).toEqual(['a', 'c', '', '']);
  });

  it('tells of a scrolled screen only the new lines', () => {
    const [terminal, copy, reader] = [new Terminal(), new ScreenCopy(), new Reader()];
    terminal.lines = ['a', 'b', 'c', 'd'];
    terminal.tell(copy);
    reader.read(copy);
    terminal.lines.push('e', 'f');
    terminal.tell(copy);
    expect(reader.read(copy)).toMatchObject({
      ...{ first: 0, top: 2, end: 6 },
      lines: [
        { n: 4, runs: ['e'] },
        { n: 5, runs: ['f'] },
      ],
    });
  });

  it('numbers the lines again where some were missed, and never shows a wrong one', () => {
    const [terminal, copy, reader] = [new Terminal(), new ScreenCopy(), new Reader()];
    terminal.tell(copy);
    reader.read(copy);
    terminal.lines.push(...Array.from({ length: 50 }, (_, n) => `line ${n}`));
    terminal.tell(copy);
    reader.read(copy);
    expect(reader.text).toEqual(terminal.lines.slice(-16));
  });

  it('keeps the numbers of its lines when the terminal drops its oldest ones', () => {
    const [terminal, copy, reader] = [new Terminal(), new ScreenCopy(), new Reader()];
    terminal.lines = Array.from({ length: 40 }, (_, n) => `line ${n}`);
    copy.take(terminal.captured(30), { whole: true });
    const before = reader.read(copy);
    terminal.lines.splice(0, 20);
    terminal.lines.push('next');
    expect(copy.take(terminal.captured(12), { whole: false })).toBe('taken');
    const { top = 0, end = 0 } = before ?? {};
    expect(reader.read(copy)).toMatchObject({
      ...{ first: before?.first, top: top + 1, end: end + 1 },
      lines: [{ n: end, runs: ['next'] }],
    });
    expect(reader.text.slice(-3)).toEqual(['line 38', 'line 39', 'next']);
  });

  it('is told as out of date, with the reason, and as current again', () => {
    const [terminal, copy, reader] = [new Terminal(), new ScreenCopy(), new Reader()];
    terminal.tell(copy);
    reader.read(copy);
    copy.goStale('tmux sleeps');
    copy.goStale('tmux sleeps');
    expect(reader.read(copy)).toMatchObject({ stale: 'tmux sleeps', lines: [] });
    copy.isCurrent();
    expect(reader.read(copy)).toMatchObject({ stale: null, lines: [] });
    copy.isCurrent();
    expect(reader.read(copy)).toBeNull();
  });

  it('keeps a limited number of lines and of bytes', () => {
    const copy = new ScreenCopy();
    const reader = new Reader();
    const lines = (count: number, text: string) => Array.from({ length: count }, () => json(text));
    copy.take({ columns: 80, history: 1_950, first: 0, lines: lines(2_000, 'x') }, { whole: true });
    expect(reader.read(copy)).toMatchObject({ first: 1_000, top: 1_950, end: 2_000 });
    copy.take(
      { columns: 80, history: 950, first: 0, lines: lines(1_000, 'y'.repeat(10_000)) },
      { whole: true },
    );
    reader.read(copy);
    expect(reader.screen.lines.length).toBeGreaterThan(90);
    expect(copy.since(0)!.length).toBeLessThan(1024 * 1024 + 10_000);
  });

  it('gives any reader the lines of the terminal, whatever changes in it and whatever the reader missed', () => {
    const text = fc.constantFrom('', 'a', 'b', 'line', 'other');
    const step = fc.oneof(
      fc.record({ kind: fc.constant('write' as const), row: fc.nat(3), text }),
      fc.record({ kind: fc.constant('scroll' as const), lines: fc.array(text, { maxLength: 9 }) }),
      fc.record({ kind: fc.constant('count' as const), lines: fc.integer({ min: 1, max: 20 }) }),
      fc.record({ kind: fc.constant('trim' as const), count: fc.nat(8) }),
      fc.record({ kind: fc.constant('rows' as const), rows: fc.integer({ min: 1, max: 6 }) }),
      fc.record({ kind: fc.constant('columns' as const), columns: fc.integer({ min: 10, max: 12 }) }),
      fc.constant({ kind: 'capture' as const }),
      fc.constant({ kind: 'read' as const }),
      fc.constant({ kind: 'silence' as const }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const [terminal, copy, slow] = [new Terminal(), new ScreenCopy(), new Reader()];
        for (const one of steps) {
          if (one.kind === 'write')
            terminal.lines[terminal.history + Math.min(one.row, terminal.rows - 1)] = one.text;
          else if (one.kind === 'scroll') terminal.lines.push(...one.lines);
          else if (one.kind === 'count')
            terminal.lines.push(
              ...Array.from({ length: one.lines }, (_, n) => `${terminal.lines.length + n}`),
            );
          else if (one.kind === 'trim') terminal.lines.splice(0, Math.min(one.count, terminal.history));
          else if (one.kind === 'rows') {
            terminal.rows = one.rows;
            while (terminal.lines.length < one.rows) terminal.lines.push('');
          } else if (one.kind === 'columns') terminal.columns = one.columns;
          else if (one.kind === 'read') slow.read(copy);
          else if (one.kind === 'silence') copy.goStale('no answer');
          else terminal.tell(copy);
        }
        terminal.tell(copy);
        slow.read(copy);
        const fresh = new Reader();
        fresh.read(copy);
        const visible = terminal.lines.slice(terminal.history);
        for (const reader of [slow, fresh]) {
          expect(reader.text.slice(-terminal.rows)).toEqual(visible);
          expect(reader.screen.top + terminal.rows).toBe(reader.screen.first + reader.screen.lines.length);
          expect(reader.screen).toMatchObject({ stale: null, columns: terminal.columns });
        }
        expect(slow.text).toEqual(fresh.text);
      }),
      { numRuns: 2_000 },
    );
  });
});
