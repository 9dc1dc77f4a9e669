import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCommented } from '../../../src/config/json-splice.ts';
import { hookCommand } from '../../../src/harness/hooks/hook-command.ts';
import { withHooks, withoutHooks } from '../../../src/harness/hooks/hook-settings.ts';

const FILE = '/home/ada/.claude/settings.json';
const EVENTS = ['SessionStart', 'Stop'];
const OURS = hookCommand('claude');
const put = (text: string | null, command = OURS) => withHooks(FILE, text, EVENTS, command);
const entry = { hooks: [{ type: 'command', command: OURS, timeout: 5 }] };
const theirs = { matcher: '*', hooks: [{ type: 'command', command: 'make lint' }] };

const WRITTEN = `{
    // Which model I like.
    "model": "opus",   "odd": [1,
       2],
    "hooks": {
        /* mine */
        "Stop": [
            {"hooks": [ {"type": "command", "command": "make lint"} ]} // often
        ]
    },
    "last": true // the end
}
`;

describe('the settings of a program with our hooks', () => {
  it('keep the comments and the layout of all that a person wrote', () => {
    const { text, places } = put(WRITTEN);
    for (const line of WRITTEN.split('\n').filter((one) => !one.includes('often')))
      expect(text).toContain(line);
    for (const comment of ['// often', '/* mine */']) expect(text).toContain(comment);
    expect(places).toEqual([
      { event: 'SessionStart', group: 0 },
      { event: 'Stop', group: 1 },
    ]);
    const { hooks } = parseCommented(text) as { hooks: Record<string, unknown[]> };
    expect(hooks).toEqual({ SessionStart: [entry], Stop: [expect.anything(), entry] });
  });

  it('are as they were when our hooks are removed again', () => {
    expect(withoutHooks(FILE, put(WRITTEN).text)).toBe(WRITTEN);
    expect(withoutHooks(FILE, WRITTEN)).toBe(WRITTEN);
  });

  it('are laid out as the file is', () => {
    expect(put(null).text).toBe(
      `${JSON.stringify({ hooks: { SessionStart: [entry], Stop: [entry] } }, null, 2)}\n`,
    );
    const settings = { model: 'opus', hooks: { SessionStart: [entry], Stop: [entry] } };
    for (const indent of [2, '\t'])
      expect(put(JSON.stringify({ model: 'opus' }, null, indent)).text).toBe(
        JSON.stringify(settings, null, indent),
      );
  });

  it.each(['{"hooks": 1}', '{"hooks": {"Stop": 1}}', '[]', '{"a": 1,}', '{'])(
    'are refused as %s, with their path',
    (text) => {
      expect(() => put(text)).toThrow(
        expect.objectContaining({ code: 'invalid_config', message: expect.stringContaining(FILE) }),
      );
    },
  );

  it('hold our entries once, parse to what is meant, and come back byte by byte, whatever else they hold', () => {
    const groups = fc.array(fc.constantFrom(theirs, { odd: 1 }), { minLength: 1, maxLength: 3 });
    const events = fc.dictionary(fc.constantFrom('SessionStart', 'Stop', 'PreToolUse'), groups, {
      minKeys: 1,
    });
    const rest = fc.dictionary(fc.constantFrom('a', 'b', 'z'), fc.jsonValue());
    const layouts = fc.constantFrom(undefined, 2, 4, '\t');
    fc.assert(
      fc.property(
        rest,
        fc.option(events, { nil: undefined }),
        rest,
        layouts,
        (before, hooks, after, layout) => {
          const settings = JSON.parse(JSON.stringify({ ...before, hooks, ...after })) as Record<
            string,
            unknown
          >;
          const text = JSON.stringify(settings, null, layout);
          const done = put(text).text;
          const lists = Object.fromEntries(
            EVENTS.map((event) => [event, [...((hooks as Record<string, unknown[]>)?.[event] ?? []), entry]]),
          );
          expect(JSON.parse(done)).toEqual({ ...settings, hooks: { ...hooks, ...lists } });
          expect(put(done).text).toBe(done);
          expect(put(put(text, 'node /old/svc.cjs hook event --harness claude').text).text).toBe(done);
          if (Object.keys(settings).length > 0) expect(withoutHooks(FILE, done)).toBe(text);
        },
      ),
    );
  });
});
