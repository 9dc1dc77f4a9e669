import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ControlEvent, ControlParser } from '../../src/mux/control-protocol.ts';

function parse(text: string, cuts: number[] = []): ControlEvent[] {
  const bytes = Buffer.from(text);
  const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  const parser = new ControlParser();
  return edges.slice(1).flatMap((end, index) => parser.push(bytes.subarray(edges[index], end)));
}

describe('the control-mode parser', () => {
  it('distinguishes replies, foreign blocks and notifications', () => {
    const text = [
      '%begin 1795225935 268 0',
      '%end 1795225935 268 0',
      '%session-changed $0 svc-anchor',
      '%begin 1795225935 279 1',
      'duplicate session: foo',
      '%error 1795225935 279 1',
      '%begin 1795225935 280 1',
      '$2 7335 foo2',
      '%end 1795225935 280 1',
      '%sessions-changed',
      '%exit',
      '',
    ].join('\n');
    expect(parse(text)).toEqual([
      { kind: 'foreign', ok: true, lines: [] },
      { kind: 'notification', name: 'session-changed', text: '$0 svc-anchor' },
      { kind: 'reply', ok: false, lines: ['duplicate session: foo'] },
      { kind: 'reply', ok: true, lines: ['$2 7335 foo2'] },
      { kind: 'notification', name: 'sessions-changed', text: '' },
      { kind: 'notification', name: 'exit', text: '' },
    ]);
  });

  it('ends a block only at its own stamp', () => {
    const inside = ['%end 1 2 1', '%begin 1 3 1', '%error 9 9 9', '%exit', '%end 1 3 1x'];
    const text = ['%begin 1 3 1', ...inside, '%end 1 3 1', ''].join('\n');
    expect(parse(text)).toEqual([{ kind: 'reply', ok: true, lines: inside }]);
  });

  it('parses the same events however the stream is divided', () => {
    const line = fc
      .string({ unit: 'grapheme' })
      .map((text) => text.replaceAll('\n', ' '))
      .filter((text) => !/^%(end|error) /.test(text));
    const block = fc.tuple(fc.array(line, { maxLength: 4 }), fc.boolean(), fc.constantFrom(0, 1));
    fc.assert(
      fc.property(
        fc.array(block, { maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 20 }),
        (blocks, cuts) => {
          const text = blocks
            .map(([lines, ok, flags], index) =>
              [
                `%begin 17 ${index} ${flags}`,
                ...lines,
                `%${ok ? 'end' : 'error'} 17 ${index} ${flags}`,
                '%sessions-changed',
                '',
              ].join('\n'),
            )
            .join('');
          expect(parse(text, cuts)).toEqual(
            blocks.flatMap(([lines, ok, flags]) => [
              { kind: flags === 1 ? 'reply' : 'foreign', ok, lines },
              { kind: 'notification', name: 'sessions-changed', text: '' },
            ]),
          );
        },
      ),
    );
  });

  it('parses any bytes without throwing', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (chunks) => {
        const parser = new ControlParser();
        for (const chunk of chunks)
          for (const event of parser.push(chunk)) expect(event.kind).toBeTypeOf('string');
      }),
    );
  });

  it.each([
    ['a line', `x${'y'.repeat(3_000)}`],
    ['a block', `%begin 1 1 1\n${`${'z'.repeat(100)}\n`.repeat(30)}`],
  ])('reports that %s exceeds the limit, and reads no further', (_what, text) => {
    const parser = new ControlParser(1_000);
    expect(parser.push(Buffer.from(text)).at(-1)).toEqual({ kind: 'overflow' });
    expect(parser.push(Buffer.from('\n%exit\n'))).toEqual([]);
  });
});
