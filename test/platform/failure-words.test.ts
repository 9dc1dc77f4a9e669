import { describe, expect, it } from 'vitest';
import { failureWords, inOneLine } from '../../src/platform/failure-words.ts';

describe('why a run of a program failed', () => {
  it.each([
    [
      {
        kind: 'exited',
        code: 128,
        stdout: '',
        stderr: 'git-lfs: not found\nfatal: the remote end hung up\n',
      },
      'git-lfs: not found; fatal: the remote end hung up',
    ],
    [{ kind: 'exited', code: 2, stdout: 'told on stdout\n', stderr: ' \n' }, 'told on stdout'],
    [{ kind: 'exited', code: 2, stdout: '', stderr: '' }, 'it exited with 2, without a word'],
    [{ kind: 'signalled', signal: 'SIGSEGV', stdout: '', stderr: 'oh\n' }, 'it was ended by SIGSEGV: oh'],
    [{ kind: 'timed_out' }, 'it did not end in time'],
    [{ kind: 'overflowed', stdout: 'x' }, 'it printed too much'],
    [{ kind: 'not_started', code: 'ENOENT' }, 'it is not installed (ENOENT)'],
    [{ kind: 'not_started', code: 'EACCES' }, 'it cannot be started (EACCES)'],
  ] as const)('is told with all its words: %j', (result, words) => {
    expect(failureWords(result)).toBe(words);
  });

  it('is one line without colours, of which a long text loses its beginning', () => {
    expect(inOneLine('\u001b[31merror: no\u001b[0m\r\n10%\r100% done\n\n')).toBe('error: no; 100% done');
    expect(inOneLine(`${'x'.repeat(5_000)}\nthe end`)).toMatch(/^…x+; the end$/);
  });
});
