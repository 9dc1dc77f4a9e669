import { messageOf } from '../../../src/base/errors.ts';
import type { Finding, SearchOptions, SearchReport } from '../contract.ts';
import { replayCommand } from '../searches.ts';
import { inLanes, shuffled } from '../seeded-order.ts';
import { tryUserSettings, USER_SETTINGS } from './trial.ts';

export const name = 'tmux-options';

/** Tries each setting of a user alone, then pairs of them, on a tmux server of its own each; a case is `3` or `3+7`. */
export async function search(options: SearchOptions): Promise<SearchReport> {
  const { seed, until_ms, signal, only_case, log } = options;
  const numbers = USER_SETTINGS.map((_, at) => at);
  const pairs = numbers.flatMap((one) => numbers.filter((other) => other > one).map((other) => [one, other]));
  const all = [
    ...shuffled(
      numbers.map((one) => [one]),
      seed,
    ),
    ...shuffled(pairs, seed),
  ];
  const chosen = all.filter((one) => only_case === undefined || one.join('+') === only_case);
  const findings: Finding[] = [];
  let cases = 0;
  await inLanes(
    chosen,
    2,
    () => !signal.aborted && Date.now() < until_ms,
    async (one) => {
      const settings = one.flatMap((at) => (USER_SETTINGS[at] === undefined ? [] : [USER_SETTINGS[at]]));
      cases += 1;
      try {
        await tryUserSettings(settings);
      } catch (error) {
        const title = `${settings.map((words) => words.join(' ')).join('; ')}: ${messageOf(error)}`;
        log(title);
        findings.push({ title, replay: replayCommand(name, seed, one.join('+')) });
      }
    },
  );
  return { cases, findings };
}
