import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ComponentView } from '../../src/contract/component.ts';
import type { Caller } from '../../src/threads/calls.ts';
import type { FaultKind, faultCalls } from '../../src/threads/fault-injection.ts';
import { createSupervisor, type Supervisor } from '../../src/threads/supervisor.ts';
import { askEach, quickRules, realComponents, temporarySettings } from './real-components.ts';

/** The four ways a thread can die, and what its view says afterwards. */
export const DEATHS: { kind: FaultKind; says: RegExp }[] = [
  { kind: 'throw', says: /thrown outside of any call/ },
  { kind: 'exit', says: /exited with status 7/ },
  { kind: 'out-of-memory', says: /SVC_WORKER_MEMORY_MB/ },
  { kind: 'loop', says: /no sign of life/ },
];

const settled = { timeout: 15_000, interval: 20 };

/** Proves for one component that runs in a thread of its own what becomes of it and of the others at each death. */
export function describeDeaths(name: 'ledgers' | 'fleet' | 'audio'): void {
  describe(`the ${name} thread`, () => {
    let home: ReturnType<typeof temporarySettings>;
    let components: ReturnType<typeof realComponents>;
    let supervisor: Supervisor;

    const view = (of: string): ComponentView => supervisor.views().find((entry) => entry.name === of)!;
    const dieOf = (kind: FaultKind): Promise<unknown> =>
      (components[name] as unknown as Caller<typeof faultCalls>).call('__fault', { kind });

    beforeEach(async () => {
      home = temporarySettings();
      components = realComponents(home.settings);
      supervisor = createSupervisor({
        ...quickRules(1),
        children: Object.values(components),
        onEssentialFailed: () => undefined,
      });
      await supervisor.start();
    });
    afterEach(async () => {
      await supervisor.stop();
      home.remove();
    });

    for (const { kind, says } of DEATHS) {
      it(`comes back once after ${kind}, alone, failing its waiting calls, and is given up at the second`, async () => {
        const others = supervisor.views().filter((entry) => entry.name !== name);
        const waiting = dieOf('hang');
        const fatal = dieOf(kind);
        await expect(waiting).rejects.toMatchObject({ code: 'component_unavailable' });
        await expect(fatal).rejects.toMatchObject({ code: 'component_unavailable' });

        await vi.waitFor(() => expect(view(name)).toMatchObject({ state: 'running', restarts: 1 }), settled);
        expect(view(name).last_error).toMatch(says);
        await expect(askEach(components)[name]!()).resolves.toBeDefined();

        await expect(dieOf(kind)).rejects.toMatchObject({ code: 'component_unavailable' });
        await vi.waitFor(() => expect(view(name).state).toBe('failed'), settled);
        await expect(askEach(components)[name]!()).rejects.toMatchObject({ code: 'component_unavailable' });

        expect(supervisor.views().filter((entry) => entry.name !== name)).toEqual(others);
        for (const [other, ask] of Object.entries(askEach(components)))
          if (other !== name) await expect(ask()).resolves.toBeDefined();
      });
    }
  });
}
