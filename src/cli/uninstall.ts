import type { Verb } from './command-line/verb.ts';
import {
  addFiberArgument,
  addLifecycleOptions,
  type LifecycleOptions,
  runLifecycle,
} from './verbs/lifecycle/write.ts';

/** `svc uninstall <fiber>`: takes the svc block away; already gone is success. */
export const verb: Verb = {
  name: 'uninstall',
  summary: 'Make a fiber a plain document again',
  register(command, context, exit) {
    addLifecycleOptions(
      addFiberArgument(command).option('--kill', 'also stop the worker that runs; it goes on otherwise'),
    ).action(async (reference: string, options: LifecycleOptions & { kill?: boolean }) => {
      await runLifecycle(context, reference, options, { action: 'uninstall', kill: options.kill }, exit);
    });
  },
};
