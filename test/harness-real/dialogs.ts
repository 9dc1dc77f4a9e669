import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HarnessName } from '../../src/contract/harness-name.ts';
import type { Step } from '../kit/stub-model/script.ts';

/** Pi asks only where an extension does. */
const PI_ASKS = `
export default function (pi) {
  pi.registerTool({
    name: 'AskPerson',
    label: 'Ask',
    description: 'Ask the person',
    parameters: { type: 'object', properties: {} },
    execute: async (_id, _input, _signal, _update, ctx) => {
      const answer = await ctx.ui.select('Which way?', ['left', 'right']);
      return { content: [{ type: 'text', text: String(answer) }], details: {} };
    },
  });
}
`;

/** Arguments with which Codex asks before some commands; the other programs have a file in the home. */
export const CODEX_ASKS = ['-a', 'on-request', '-s', 'workspace-write'];

/** Writes a person’s own settings with which a program shows a dialog before a command, or asks a question. */
export function writeAskingSettings(name: HarnessName, home: string): void {
  if (name === 'codex') return;
  const folder = join(home, ...(name === 'claude' ? ['.claude'] : ['.pi', 'agent', 'extensions']));
  mkdirSync(folder, { recursive: true });
  const settings = { permissions: { ask: ['Bash(touch asked)'] } };
  if (name === 'pi') writeFileSync(join(folder, 'ask.ts'), PI_ASKS);
  else writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
}

/** The question of Claude Code’s own tool for questions. */
export const QUESTION = 'Which of the two formats stays?';
export const ASKS_QUESTION: Step = {
  tool: 'AskUserQuestion',
  input: {
    questions: [
      {
        ...{ question: QUESTION, header: 'Format', multiSelect: false },
        options: [
          { label: 'The first', description: 'the older one' },
          { label: 'The second', description: 'the newer one' },
        ],
      },
    ],
  },
};

/** What the model does to make a program ask, and what is told of it. */
export const DIALOG: Record<HarnessName, { step: Step; said: string }> = {
  claude: { step: { shell: 'touch asked' }, said: 'asks to run: touch asked' },
  codex: {
    step: {
      tool: 'exec_command',
      input: { cmd: 'touch asked', sandbox_permissions: 'require_escalated', justification: 'May I?' },
    },
    said: 'asks to run: touch asked',
  },
  pi: { step: { tool: 'AskPerson', input: {} }, said: 'Which way?' },
};
