import { describe, expect, it } from 'vitest';
import { stageInTurns } from '../../../src/harness/app-server/turn.ts';

const mine = { type: 'userMessage', clientId: 'm-1' };
const other = { type: 'userMessage', clientId: 'm-2' };
const words = { type: 'agentMessage', text: 'On main.' };
const silence = { type: 'agentMessage', text: ' ' };
const command = { type: 'commandExecution' };

describe('what the latest turns show of a message', () => {
  it.each([
    ['no turn', [], null],
    ['another message', [[other, words]], null],
    ['the message alone', [[mine]], 'submitted'],
    ['words before it only, as when a running turn takes it in', [[other, words, mine]], 'submitted'],
    ['a command and empty words after it', [[mine, command, silence]], 'submitted'],
    ['words after it in its turn', [[other, mine, command, words]], 'accepted'],
    ['words in a later turn, which is listed first', [[other, words], [mine]], 'accepted'],
    ['words in an earlier turn, which is listed last', [[mine], [other, words]], 'submitted'],
  ])('%s', (_title, turns, stage) => {
    expect(
      stageInTurns(
        turns.map((items) => ({ items })),
        'm-1',
      ),
    ).toBe(stage);
  });
});
