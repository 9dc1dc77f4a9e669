import { describe, expect, it } from 'vitest';
import { firstSteps, type HostFacts, type StepName } from '../../../board/src/model/first-run.ts';

const tool = (name: string, found: boolean) => ({ name, path: found ? `/bin/${name}` : null, version: null });
const whole = {
  doctor: { path: '/bin', tools: [tool('tmux', true), tool('claude', true), tool('codex', false)] },
  agents: {
    default: 'claude',
    agents: [
      { id: 'a', cli: 'claude' },
      { id: 'b', cli: 'codex' },
    ],
  },
  origin: { stores: ['/notes'], projects: [] },
  state: { boot_quarantine: { active: false } },
} as unknown as Required<HostFacts>;

const stepOf = (name: StepName, facts: object) =>
  firstSteps({ ...whole, ...facts } as HostFacts).find((step) => step.name === name)!;

describe('what a host needs before its first worker', () => {
  it('is all there but the task', () => {
    expect(firstSteps(whole).map(({ name, done }) => [name, done])).toEqual([
      ['tmux', true],
      ['agent', true],
      ['store', true],
      ['launches', true],
      ['task', false],
    ]);
    expect(stepOf('agent', {}).says).toContain('claude found');
  });

  it.each<[StepName, facts: object, says: RegExp, command: string | null]>([
    ['tmux', { doctor: { path: '/x', tools: [tool('tmux', false)] } }, /its PATH is \/x\./, 'svc doctor'],
    [
      'agent',
      { doctor: { path: '/x', tools: [tool('claude', false), tool('codex', false)] } },
      /^None of claude and codex is found\./,
      'svc doctor',
    ],
    ['store', { origin: { stores: [], projects: [] } }, /^Choose the folder of a project/, null],
    ['launches', { state: { boot_quarantine: { active: true } } }, /waits for you/, null],
  ])('names the gap: %s', (name, facts, says, command) => {
    const step = stepOf(name, facts);
    expect(step).toMatchObject({ done: false, command });
    expect(step.says).toMatch(says);
  });

  it('is not judged before the host has told', () => {
    const steps = firstSteps({});
    expect(steps.map(({ done }) => done)).toEqual([null, null, null, null, false]);
  });
});
