import type { CliContext } from './verb.ts';

/** What is over sooner needs no word, and so often a mark that turns shows that the rest goes on; in milliseconds. */
const SILENT_MS = 300;
const TURN_MS = 120;
const TURNING = { unicode: [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'], ascii: [...'|/-\\'] } as const;

/** Tells on a terminal what is waited for, and for how many seconds, until `work` is over; elsewhere nothing. */
export async function whileTelling<T>(
  { progress, clock, unicode }: Pick<CliContext, 'progress' | 'clock' | 'unicode'>,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  if (progress === null) return work();
  const marks = unicode ? TURNING.unicode : TURNING.ascii;
  const began = clock.now();
  let turns = 0;
  const turn = () => {
    const seconds = Math.floor((clock.now() - began) / 1_000);
    progress.tell(`${marks[turns % marks.length]} ${what}  ${seconds} s`);
    turns += 1;
    cancel = clock.after(TURN_MS, turn);
  };
  let cancel = clock.after(SILENT_MS, turn);
  try {
    return await work();
  } finally {
    cancel();
    if (turns > 0) progress.clear();
  }
}
