import type { Verb } from './command-line/verb.ts';
import {
  addFiberArgument,
  addLifecycleOptions,
  type LifecycleOptions,
  runLifecycle,
} from './verbs/lifecycle/write.ts';

/** `svc accept <fiber>`: the work is accepted; a standing role is armed again in the same write (LIF-6). */
export const verb: Verb = {
  name: 'accept',
  summary: 'Accept the work; a role on a schedule goes on',
  register(command, context, exit) {
    addLifecycleOptions(
      addFiberArgument(command).option('--outcome <line>', 'the line that the card shows'),
    ).action(async (reference: string, options: LifecycleOptions & { outcome?: string }) => {
      await runLifecycle(context, reference, options, { action: 'accept', outcome: options.outcome }, exit);
    });
  },
};
