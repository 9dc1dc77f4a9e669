import { expect, it } from 'vitest';
import { FakeClock } from '../../../src/base/clock.ts';
import { createDeferred } from '../../../src/base/deferred.ts';
import { withSafeOutput } from '../../../src/cli/command-line/safe-output.ts';
import { whileTelling } from '../../../src/cli/command-line/spinner.ts';

function terminal(err_columns: number | undefined) {
  const clock = new FakeClock();
  const shown: string[] = [];
  const context = withSafeOutput({
    ...{ env: { LANG: 'C.UTF-8' }, cwd: '/', clock, stdin: process.stdin },
    out: () => {},
    err: (text) => shown.push(text),
    ...(err_columns === undefined ? {} : { err_columns }),
  });
  return { clock, shown, context };
}

it('what takes long is told on a terminal with its seconds, and leaves nothing', async () => {
  const { clock, shown, context } = terminal(40);
  const work = createDeferred<string>();
  const told = whileTelling(context, 'The daemon starts', () => work.promise);
  clock.advance(299);
  expect(shown).toEqual([]);
  clock.advance(2_000);
  expect(shown[0]).toMatch(/^\r. The daemon starts {2}0 s\u001b\[K$/);
  expect(shown.at(-1)).toMatch(/^\r. The daemon starts {2}2 s\u001b\[K$/);
  work.resolve('ready');
  expect(await told).toBe('ready');
  expect(shown.at(-1)).toBe('\r\u001b[K');
  const { length } = shown;
  clock.advance(5_000);
  expect(shown).toHaveLength(length);
});

it('what is over soon, or told elsewhere than on a terminal, has no word', async () => {
  for (const { clock, shown, context } of [terminal(80), terminal(undefined)]) {
    await whileTelling(context, 'The daemon starts', async () => {
      if (context.progress === null) clock.advance(5_000);
    });
    clock.advance(5_000);
    expect(shown).toEqual([]);
  }
});
