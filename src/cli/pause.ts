import type { Verb } from './command-line/verb.ts';
import {
  addFiberArgument,
  addLifecycleOptions,
  type LifecycleOptions,
  runLifecycle,
} from './verbs/lifecycle/write.ts';

/** `svc pause <fiber>`: parks an armed fiber; parked already is success. */
export const verb: Verb = {
  name: 'pause',
  summary: 'Park a fiber, so that no worker takes it up',
  register(command, context, exit) {
    addLifecycleOptions(
      addFiberArgument(command).option('--kill', 'also stop the worker that runs; it goes on otherwise'),
    ).action(async (reference: string, options: LifecycleOptions & { kill?: boolean }) => {
      await runLifecycle(context, reference, options, { action: 'pause', kill: options.kill }, exit);
    });
  },
};
