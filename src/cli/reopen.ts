import type { Verb } from './command-line/verb.ts';
import {
  addFiberArgument,
  addLifecycleOptions,
  type LifecycleOptions,
  runLifecycle,
} from './verbs/lifecycle/write.ts';

/** `svc reopen <fiber>`: opens a closed fiber (LIF-4); open already is success. */
export const verb: Verb = {
  name: 'reopen',
  summary: 'Take a closed fiber up again',
  register(command, context, exit) {
    addLifecycleOptions(addFiberArgument(command)).action(
      async (reference: string, options: LifecycleOptions) => {
        await runLifecycle(context, reference, options, { action: 'reopen' }, exit);
      },
    );
  },
};
