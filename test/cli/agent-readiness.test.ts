import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { requireProgram } from '../../src/cli/agent-readiness.ts';
import { withSafeOutput } from '../../src/cli/command-line/safe-output.ts';
import type { DaemonClient } from '../../src/cli/daemon-client/client.ts';
import { createMachine, type Machine } from './kit.ts';

let machine: Machine;
beforeEach(() => {
  machine = createMachine();
  machine.env.PATH = machine.folder;
});
afterEach(() => machine.remove());

const daemonThatFinds = (path: string | null) =>
  ({ get: async () => ({ tools: [{ name: 'pi', path }] }) }) as unknown as DaemonClient;
const silent = { get: () => Promise.reject(new Error('it hangs')) } as unknown as DaemonClient;

describe('an agent whose program this shell does not find', () => {
  const required = (daemon: DaemonClient | null) =>
    requireProgram(withSafeOutput(machine.context), 'pi', null, daemon);

  it('is taken where the daemon, which starts it, finds it', async () => {
    await expect(required(daemonThatFinds('/opt/pi'))).resolves.toBeUndefined();
  });

  it.each([
    ['does not find it either', daemonThatFinds(null)],
    ['does not answer', silent],
    ['does not run', null],
  ])('is refused where the daemon %s', async (_what, daemon) => {
    await expect(required(daemon)).rejects.toMatchObject({
      code: 'agent_unavailable',
      message: expect.stringMatching(/^agent pi cannot start here: Pi is not installed .* add --anyway$/),
    });
  });

  it('is left to the write where nobody knows it', async () => {
    await expect(
      requireProgram(withSafeOutput(machine.context), 'nobody', null, null),
    ).resolves.toBeUndefined();
  });
});
