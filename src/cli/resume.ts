import type { Verb } from './command-line/verb.ts';
import {
  addFiberArgument,
  addLifecycleOptions,
  type LifecycleOptions,
  runLifecycle,
} from './verbs/lifecycle/write.ts';

/** `svc resume <fiber>`: arms a fiber again (LIF-6, RES-8); armed already is success. */
export const verb: Verb = {
  name: 'resume',
  summary: 'Let a parked, closed or awaiting fiber be taken up again',
  register(command, context, exit) {
    addLifecycleOptions(addFiberArgument(command)).action(
      async (reference: string, options: LifecycleOptions) => {
        await runLifecycle(context, reference, options, { action: 'resume' }, exit);
      },
    );
  },
};
