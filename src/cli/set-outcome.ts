import type { Verb } from './command-line/verb.ts';
import {
  addFiberArgument,
  addLifecycleOptions,
  type LifecycleOptions,
  runLifecycle,
} from './verbs/lifecycle/write.ts';

type Options = LifecycleOptions;

/** `svc set-outcome <fiber> <outcome>`: the line that the card shows. */
export const verb: Verb = {
  name: 'set-outcome',
  summary: 'Write the line that the card shows',
  register(command, context, exit) {
    addLifecycleOptions(addFiberArgument(command).argument('<outcome>', 'one line')).action(
      async (reference: string, outcome: string, options: Options) => {
        const fields = { action: 'set-outcome' as const, outcome };
        await runLifecycle(context, reference, options, fields, exit);
      },
    );
  },
};
