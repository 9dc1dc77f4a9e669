import type { Verb } from './command-line/verb.ts';
import {
  addServiceOptions,
  readServiceFields,
  runLifecycle,
  type ServiceOptions,
} from './verbs/lifecycle/write.ts';

/** `svc pin <fiber>`: makes a fiber a role that is started only by hand. */
export const verb: Verb = {
  name: 'pin',
  summary: 'Keep a fiber as a role that is started by hand',
  register(command, context, exit) {
    addServiceOptions(command).action(async (reference: string, options: ServiceOptions) => {
      const fields = { action: 'pin' as const, ...readServiceFields(context, options) };
      await runLifecycle(context, reference, options, fields, exit);
    });
  },
};
