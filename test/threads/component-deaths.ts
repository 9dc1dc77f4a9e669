import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ComponentView } from '../../src/contract/component.ts';
import type { Caller } from '../../src/threads/calls.ts';
import type { FaultKind, faultCalls } from '../../src/threads/fault-injection.ts';
import { createSupervisor, type Supervisor } from '../../src/threads/supervisor.ts';
import { askEach, quickRules, realComponents, temporarySettings } from './real-components.ts';

/** The four ways a thread can die, and what its view says afterwards. */
const DEATHS: readonly { kind: FaultKind; says: RegExp }[] = [
  { kind: 'throw', says: /thrown outside of any call/ },
  { kind: 'exit', says: /exited with status 7/ },
  { kind: 'out-of-memory', says: /SVC_WORKER_MEMORY_MB/ },
  { kind: 'loop', says: /did not answer a heartbeat/ },
];

const down = { code: 'component_unavailable' };
const settled = { timeout: 30_000, interval: 20 };
const TEST_MS = 40_000;

/**
 * Proves for one component that has a thread of its own what becomes of it, and of the others, at each death.
 * The deaths follow each other in one supervisor whose intensity is their number, so that the one after them
 * shows that every way of dying was counted.
 */
export function describeDeaths(name: Exclude<keyof ReturnType<typeof realComponents>, 'pool'>): void {
  describe(`the ${name} thread`, () => {
    const home = temporarySettings();
    const components = realComponents(home.settings);
    let supervisor: Supervisor;

    const view = (): ComponentView => supervisor.views().find((entry) => entry.name === name)!;
    const others = (): ComponentView[] => supervisor.views().filter((entry) => entry.name !== name);
    const dieOf = (kind: FaultKind): Promise<unknown> =>
      (components[name] as unknown as Caller<typeof faultCalls>).call('__fault', { kind });
    const askOthers = async (): Promise<void> => {
      for (const [other, ask] of Object.entries(askEach(components)))
        if (other !== name) await expect(ask()).resolves.toBeDefined();
    };

    beforeAll(async () => {
      supervisor = createSupervisor({
        ...quickRules(DEATHS.length),
        children: Object.values(components),
        onEssentialFailed: () => undefined,
      });
      await supervisor.start();
    });
    afterAll(async () => {
      await supervisor.stop();
      home.remove();
    });

    for (const [index, { kind, says }] of DEATHS.entries()) {
      it(
        `is restarted after ${kind}, alone, and its pending calls fail at once`,
        async () => {
          const before = others();
          const waiting = dieOf('hang');
          const fatal = dieOf(kind);
          await expect(waiting).rejects.toMatchObject(down);
          await expect(fatal).rejects.toMatchObject(down);
          await expect(askEach(components)[name]!()).rejects.toMatchObject(down);
          await askOthers();
          await vi.waitFor(
            () => expect(view()).toMatchObject({ state: 'running', restarts: index + 1 }),
            settled,
          );
          expect(view().last_error).toMatch(says);
          await expect(askEach(components)[name]!()).resolves.toBeDefined();
          expect(others()).toEqual(before);
        },
        TEST_MS,
      );
    }

    it(
      'is given up at the next death, and the others continue',
      async () => {
        const before = others();
        await expect(dieOf('exit')).rejects.toMatchObject(down);
        await vi.waitFor(
          () => expect(view()).toMatchObject({ state: 'failed', restarts: DEATHS.length }),
          settled,
        );
        await expect(askEach(components)[name]!()).rejects.toMatchObject(down);
        await askOthers();
        expect(others()).toEqual(before);
      },
      TEST_MS,
    );
  });
}
