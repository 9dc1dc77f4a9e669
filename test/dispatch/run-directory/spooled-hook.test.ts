import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareSpooled,
  idOfSpooled,
  parseSpooled,
  parseSpoolName,
  type SpoolFile,
  spoolNameAt,
} from '../../../src/dispatch/run-directory/spooled-hook.ts';

const file = (name: string, written_ns = 5n): SpoolFile => ({ ...parseSpoolName(name)!, written_ns });

describe('a file that a hook left', () => {
  it.each([
    ['12.0', { pid: 12, count: 0, stage: 'new' }],
    ['4194304.17', { pid: 4_194_304, count: 17, stage: 'new' }],
    ['12.0.told', { pid: 12, count: 0, stage: 'told' }],
    ['12.0.commit', { pid: 12, count: 0, stage: 'commit' }],
    ['dropped', null],
    ['12', null],
    ['12.0.x', null],
    ['.12.0', null],
    ['a.0', null],
    ['12.-1', null],
  ])('is an event by its name %s: %j', (name, expected) => {
    expect(parseSpoolName(name)).toEqual(expected === null ? null : { name, ...expected });
    if (expected !== null)
      expect(spoolNameAt(parseSpoolName(name)!, 'told')).toBe(
        '12.0.told'.replace(/^12\.0/, `${expected.pid}.${expected.count}`),
      );
  });

  it.each([
    ['the time of the last write', file('9.0', 1n), file('3.0', 2n)],
    ['the process where the clock stood still', file('9.0'), file('10.0')],
    ['the process after the last process id', file('32767.0'), file('301.0')],
    ['its number where a process id came again', file('9.1'), file('9.2')],
  ])('comes in order by %s', (_what, first, second) => {
    expect([second, first].sort(compareSpooled)).toEqual([first, second]);
    expect([first, second].sort(compareSpooled)).toEqual([first, second]);
  });

  const text = (input: string) => `1\nclaude\n/data/runs/l-1\n/tmp/tmux-0/default,12,0\n%3\n${input}\n`;
  const around = {
    harness: 'claude',
    run_dir: '/data/runs/l-1',
    tmux: '/tmp/tmux-0/default,12,0',
    pane: '%3',
  };

  it('tells where the hook ran and what its program said, lines of its own included', () => {
    expect(parseSpooled(text('{\n "a": "é\\n"\n}'))).toEqual({ ...around, input: { a: 'é\n' } });
    expect(parseSpooled('1\npi\n\n\n\n{}')).toEqual({
      harness: 'pi',
      run_dir: '',
      tmux: '',
      pane: '',
      input: {},
    });
  });

  it.each([
    '',
    '1',
    '1\nclaude\n\n\n\n',
    text(''),
    text('no json'),
    text('[]'),
    text('null'),
    text('{"a":'),
    '2\nclaude\n\n\n\n{}',
  ])('is not complete, or no event: %j', (partial) => {
    expect(parseSpooled(partial)).toBeNull();
  });

  it('is an event only once it is whole', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (input, at) => {
        const whole = text(JSON.stringify(input)).trimEnd();
        expect(parseSpooled(whole)?.input).toEqual(JSON.parse(JSON.stringify(input)));
        expect(parseSpooled(whole.slice(0, at % whole.length))).toBeNull();
      }),
    );
  });

  it('has the same id whenever it is read, and another file another one', () => {
    const id = idOfSpooled(file('9.0'), 'text');
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(idOfSpooled(file('9.0.told'), 'text')).toBe(id);
    for (const other of [
      idOfSpooled(file('9.1'), 'text'),
      idOfSpooled(file('9.0', 6n), 'text'),
      idOfSpooled(file('9.0'), 'more'),
    ])
      expect(other).not.toBe(id);
  });
});
