import { expect, it } from 'vitest';
import { paint, type Styled } from '../../../../src/cli/command-line/styled-text.ts';
import { verb } from '../../../../src/cli/verbs/status.ts';
import { stateAnswer, versionAnswer } from '../../answers.ts';
import { type Answers, createMachine, serveDaemon } from '../../kit.ts';

it('svc status --watch says what a daemon answers that cannot tell its state now, and goes on', async () => {
  const machine = createMachine();
  const state = { body: stateAnswer() };
  const answers: Answers = {
    'GET /version': { body: versionAnswer() },
    'GET /fibers?since=': { body: { tag: 't-1', fibers: [] } },
    'GET /state': state,
  };
  const moves: (() => void)[] = [
    () => {
      answers['GET /state'] = {
        status: 503,
        body: { error: 'component_failed', message: 'the poller has failed' },
      };
      answers['GET /fibers?since=t-1'] = { body: { tag: 't-2', rows: [], removed: [] } };
    },
    () => {
      answers['GET /state'] = state;
    },
    () => {
      throw new Error('seen enough');
    },
  ];
  const drawn: string[] = [];
  try {
    await serveDaemon(machine, answers);
    const terminal = {
      width: () => 80,
      isStale: () => false,
      draw: (text: Styled) => {
        drawn.push(paint(text, false, (part) => part));
        moves[drawn.length - 1]!();
      },
    };
    const watching = verb.run(
      { ...machine.context, width: 80, unicode: true, terminal } as unknown as Parameters<typeof verb.run>[0],
      { watch: true, fiber: undefined } as Parameters<typeof verb.run>[1],
    );
    await expect(watching).rejects.toThrow('seen enough');
  } finally {
    machine.remove();
  }
  expect(drawn).toEqual([
    expect.stringMatching(/^Nothing needs you\./),
    'the poller has failed\nIt is asked again each second.\n',
    expect.stringMatching(/^Nothing needs you\./),
  ]);
});

it('svc status --watch draws its page again when something else was drawn over it, or its terminal has another size', async () => {
  const machine = createMachine();
  const drawn: string[] = [];
  let stale = false;
  try {
    await serveDaemon(machine, {
      'GET /version': { body: versionAnswer() },
      'GET /fibers?since=': { body: { tag: 't-1', fibers: [] } },
      'GET /fibers?since=t-1': () => {
        stale = true;
        return { tag: 't-1', rows: [], removed: [] };
      },
      'GET /state': { body: stateAnswer() },
    });
    const terminal = {
      width: () => 80,
      isStale: () => stale,
      draw: (text: Styled) => {
        stale = false;
        drawn.push(paint(text, false, (part) => part));
        if (drawn.length === 3) throw new Error('seen enough');
      },
    };
    const still = { ...machine.context.clock, now: () => Date.UTC(2026, 2, 7) };
    const watching = verb.run(
      { ...machine.context, clock: still, width: 80, unicode: true, terminal } as unknown as Parameters<
        typeof verb.run
      >[0],
      { watch: true, fiber: undefined } as Parameters<typeof verb.run>[1],
    );
    await expect(watching).rejects.toThrow('seen enough');
  } finally {
    machine.remove();
  }
  expect(new Set(drawn).size).toBe(1);
});
