import type { Verb } from './command-line/verb.ts';
import {
  addFiberArgument,
  addLifecycleOptions,
  type LifecycleOptions,
  runLifecycle,
} from './verbs/lifecycle/write.ts';

type Options = { effort?: string; defaultEffort?: boolean } & LifecycleOptions;

/** `svc set-agent <fiber> <agent>`: the agent of its next launch. */
export const verb: Verb = {
  name: 'set-agent',
  summary: 'Give a fiber another agent',
  register(command, context, exit) {
    addLifecycleOptions(
      addFiberArgument(command)
        .argument('<agent>', 'agent of the registry; svc agents lists them')
        .option('--effort <level>', 'effort of that agent')
        .option('--default-effort', 'the effort that the agent has by itself'),
    ).action(async (reference: string, agent: string, options: Options) => {
      const fields = {
        action: 'set-agent' as const,
        agent,
        effort: options.defaultEffort === true ? null : options.effort,
      };
      await runLifecycle(context, reference, options, fields, exit);
    });
  },
};
