import { describe, expect, it } from 'vitest';
import { asWritten, NAMED_VERBS, withCommands } from '../../../src/cli/command-line/typed-command.ts';
import { rowsOf } from '../../../src/cli/command-line/verb-table.ts';
import { VERBS } from '../../../src/cli/verbs.ts';

describe('the commands that a sentence names', () => {
  it('may be of any verb', () => {
    const verbs = rowsOf(VERBS).map(({ name }) => name);
    expect([...NAMED_VERBS, 'demo'].sort()).toEqual([...verbs, 'help'].sort());
  });

  it('are written as they are typed on the setup of the reader', () => {
    const typed = (text: string) => withCommands(text, 'svc demo');
    expect(typed('Start it with: svc daemon start, or `svc run x`.')).toBe(
      'Start it with: svc demo daemon start, or `svc demo run x`.',
    );
    expect(typed('go on with: svc demo status')).toBe('go on with: svc demo status');
    expect(typed('the svc block, while svc is 1.4.0; see /opt/svc run and svc runs')).toBe(
      'the svc block, while svc is 1.4.0; see /opt/svc run and svc runs',
    );
    expect(withCommands('svc status', 'svc')).toBe('svc status');
  });

  it('stay as they are in the words of somebody else', () => {
    const said = 'Run svc status, then svc stop-all.';
    for (const svc of ['svc', 'svc demo']) expect(withCommands(asWritten(said), svc)).toBe(said);
  });
});
