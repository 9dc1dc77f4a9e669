import { describe, expect, it } from 'vitest';
import { firstSteps, type HostFacts, type StepName } from '../../../board/src/model/first-run.ts';

const tool = (name: string, found: boolean) => ({ name, path: found ? `/bin/${name}` : null, version: null });
const whole = {
  doctor: {
    path: '/bin',
    tools: [tool('tmux', true), tool('claude', true), tool('codex', false)],
    agents: [],
  },
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
    [
      'agent',
      {
        doctor: {
          ...whole.doctor,
          agents: [{ id: 'a', harness: 'claude', signed_in: false, mend: 'run "claude" and log in' }],
        },
      },
      /^claude found, and nobody is signed in\. To sign in, run "claude" and log in\./,
      null,
    ],
    ['store', { origin: { stores: [], projects: [] } }, /^Choose the folder of a project/, null],
    ['launches', { state: { boot_quarantine: { active: true } } }, /waits for you/, null],
  ])('names the gap: %s', (name, facts, says, command) => {
    const step = stepOf(name, facts);
    expect(step).toMatchObject({ done: false, command });
    expect(step.says).toMatch(says);
  });

  it.each([
    [true, 'claude found, signed in to claude.'],
    [null, 'claude found. Whether you are signed in cannot be told from here; svc doctor checks a start.'],
  ])('tells of an agent that is found whether somebody is signed in: %s', (signed_in, says) => {
    const doctor = { ...whole.doctor, agents: [{ id: 'a', harness: 'claude', signed_in, mend: null }] };
    expect(stepOf('agent', { doctor })).toMatchObject({ done: true, says });
  });

  it('is not judged before the host has told', () => {
    const steps = firstSteps({});
    expect(steps.map(({ done }) => done)).toEqual([null, null, null, null, false]);
  });
});
