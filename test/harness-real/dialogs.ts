import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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
  if (name === 'claude') addClaudeRules(home, 'ask', ['touch asked']);
  if (name !== 'pi') return;
  const folder = join(home, '.pi', 'agent', 'extensions');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'ask.ts'), PI_ASKS);
}

/** Adds rules to a person’s own settings of Claude Code, as commands that need no answer or always one. */
export function addClaudeRules(home: string, kind: 'allow' | 'ask', commands: readonly string[]): void {
  const path = join(home, '.claude', 'settings.json');
  const settings = JSON.parse(readFileSync(path, 'utf8')) as { permissions: Record<string, string[]> };
  const rules = commands.map((command) => `Bash(${command})`);
  const permissions = {
    ...settings.permissions,
    [kind]: [...(settings.permissions[kind] ?? []), ...rules],
  };
  writeFileSync(path, JSON.stringify({ ...settings, permissions }));
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
