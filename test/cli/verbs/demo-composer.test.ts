import { describe, expect, it } from 'vitest';
import { afterKeys, NOTHING_TYPED, screenOf } from '../../../src/cli/verbs/demo/composer.ts';
import { messageInput } from '../../../src/harness/claude/message-input.ts';

/** What is sent, and what is left in the field, after a terminal gave these pieces. */
function typedIn(...given: string[]) {
  let typed = NOTHING_TYPED;
  const sent: string[] = [];
  let interrupted = false;
  for (const piece of given) {
    const keys = afterKeys(typed, piece);
    typed = keys.typed;
    sent.push(...keys.sent);
    interrupted ||= keys.interrupted;
  }
  return { sent, draft: typed.draft, interrupted };
}

describe('the text field of the demo agent', () => {
  it.each([
    ['keys', ['abc'], [], 'abc'],
    ['keys and Enter', ['ab', 'c\r'], ['abc'], ''],
    ['Enter alone', ['\r'], [], ''],
    ['a key taken back', ['abd\u007fc\r'], ['abc'], ''],
    ['arrows', ['a\u001b[Cb\u001bOA\r'], ['ab'], ''],
    ['a paste of two lines', ['\u001b[200~one\rtwo\u001b[201~'], [], 'one\ntwo'],
    ['a paste and Enter', ['\u001b[200~one\ntwo\u001b[201~\r'], ['one\ntwo'], ''],
    ['a paste that is cut in its marks', ['\u001b[2', '00~one\u001b', '[201', '~\r'], ['one'], ''],
  ] as const)('takes %s', (_, given, sent, draft) => {
    expect(typedIn(...given)).toEqual({ sent, draft, interrupted: false });
  });

  it('says that Ctrl-C was pressed, but not of one that was pasted', () => {
    expect(typedIn('ab\u0003').interrupted).toBe(true);
    expect(typedIn('\u001b[200~\u0003\u001b[201~').interrupted).toBe(false);
  });

  it('is known as the composer of a session by what delivers messages', () => {
    const shown = (draft: string) =>
      messageInput.readScreen(
        screenOf(['  · doing the next piece'], draft)
          .replaceAll(/\u001b\[[HJK]/g, '')
          .replaceAll('\r', ''),
      );
    expect(shown('')).toBe('ready');
    expect(shown('half a sen')).toBe('draft');
    expect(screenOf([], '\u001b[31m')).not.toContain('\u001b[31m');
  });
});
