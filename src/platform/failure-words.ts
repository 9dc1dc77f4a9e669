import type { ProcessResult } from './process.ts';

/** Characters that are kept of what a program said; its end tells more than its beginning. */
const MOST_SAID = 2_000;
const COLOURS = /\u001b\[[0-9;?]*[ -/]*[@-~]/g;

/**
 * Why a run of a program failed, as a part of a sentence: all that it said, since the cause is often not in its last line.
 * `result` is of a run that failed.
 */
export function failureWords(result: ProcessResult): string {
  switch (result.kind) {
    case 'exited':
      return (
        inOneLine(result.stderr) ||
        inOneLine(result.stdout) ||
        `it exited with ${result.code}, without a word`
      );
    case 'signalled':
      return [`it was ended by ${result.signal}`, inOneLine(result.stderr)].filter(Boolean).join(': ');
    case 'timed_out':
      return 'it did not end in time';
    case 'overflowed':
      return 'it printed too much';
    case 'not_started':
      return `it ${result.code === 'ENOENT' ? 'is not installed' : 'cannot be started'} (${result.detail ?? result.code})`;
  }
}

/** All lines that a program printed as one line, without colours and redrawn progress; of a long text the end. */
export function inOneLine(printed: string): string {
  const lines = printed
    .replaceAll(COLOURS, '')
    .split('\n')
    .map((line) => line.trim().replace(/^.*\r/, '').trim())
    .filter((line) => line !== '');
  const said = lines.join('; ');
  return said.length <= MOST_SAID ? said : `…${said.slice(-MOST_SAID)}`;
}
