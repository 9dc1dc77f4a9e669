import { describe, expect, it } from 'vitest';
import { type Candidate, chooseAgent } from '../../../../src/cli/verbs/run/choose-agent.ts';
import type { HarnessName } from '../../../../src/contract/harness-name.ts';

function candidate(
  id: string,
  harness: HarnessName,
  state: 'ready' | 'unknown account' | 'missing' | 'signed out',
  more: Partial<Candidate['agent']> = {},
): Candidate {
  const signed_in = state === 'ready' ? true : state === 'signed out' ? false : null;
  const mend = signed_in === false ? `run "${harness}" once and log in` : null;
  return {
    agent: { id, harness, cli: harness, default: false, ...more },
    installed: state !== 'missing',
    account: { signed_in, mend },
    findings: [],
  };
}
const first = (state: Parameters<typeof candidate>[2]) => candidate('a', 'claude', state, { default: true });

describe('the agent that begins a task', () => {
  it.each([
    ['the default one', [candidate('b', 'codex', 'ready'), first('ready')], null, 'a'],
    [
      'the first that can, where the default one cannot',
      [first('missing'), candidate('b', 'codex', 'ready')],
      null,
      'b',
    ],
    ['one whose account is not known', [first('unknown account')], null, 'a'],
    ['the one that was asked for', [first('ready'), candidate('b', 'codex', 'ready')], 'b', 'b'],
  ])('is %s', (_, candidates, asked, expected) => {
    expect(chooseAgent(candidates, asked).agent.id).toBe(expected);
  });

  it.each([
    [
      'that was asked for and is not there',
      [candidate('b', 'codex', 'missing')],
      'b',
      /^agent b cannot start here: Codex is not installed \(npm install -g @openai\/codex, then run "codex" once to sign in\)$/,
    ],
    [
      'that was asked for and has no account',
      [candidate('b', 'codex', 'signed out')],
      'b',
      /^agent b cannot start here: Codex is not signed in \(run "codex" once and log in\)$/,
    ],
    [
      'of any kind, each lack once',
      [first('missing'), candidate('c', 'claude', 'missing'), candidate('b', 'codex', 'signed out')],
      null,
      /^no agent can start here: Claude Code is not installed \([^)]*\); Codex is not signed in \([^)]*\)\. One of them is enough; to look around without one: svc demo$/,
    ],
    [
      'whose own program is away',
      [candidate('own', 'claude', 'missing', { cli: '/opt/agent' })],
      'own',
      /^agent own cannot start here: "\/opt\/agent" is not installed \(install it, or change "cli" in agents.json\)$/,
    ],
  ])('is refused with its fix where there is none %s', (_, candidates, asked, message) => {
    expect(() => chooseAgent(candidates, asked)).toThrow(message);
  });
});
