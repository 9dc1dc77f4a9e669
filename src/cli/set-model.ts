import type { Verb } from './command-line/verb.ts';
import {
  addFiberArgument,
  addLifecycleOptions,
  type LifecycleOptions,
  runLifecycle,
} from './verbs/lifecycle/write.ts';

type Options = { effort?: string; defaultEffort?: boolean } & LifecycleOptions;

/** `svc set-model <fiber> <model>`: the agent of the registry that runs the model, from the next launch on. */
export const verb: Verb = {
  name: 'set-model',
  summary: 'Have a fiber worked on by another model',
  register(command, context, exit) {
    addLifecycleOptions(
      addFiberArgument(command)
        .argument('<model>', 'model of an agent of the registry')
        .option('--effort <level>', 'effort of that agent')
        .option('--default-effort', 'the effort that the agent has by itself'),
    ).action(async (reference: string, model: string, options: Options) => {
      const fields = {
        action: 'set-model' as const,
        model,
        effort: options.defaultEffort === true ? null : options.effort,
      };
      await runLifecycle(context, reference, options, fields, exit);
    });
  },
};
