import type { Verb } from './command-line/verb.ts';
import {
  addServiceOptions,
  readServiceFields,
  runLifecycle,
  type ServiceOptions,
} from './verbs/lifecycle/write.ts';

/** `svc install <fiber>`: makes a fiber a oneshot and arms it. */
export const verb: Verb = {
  name: 'install',
  summary: 'Have a worker take up a fiber once',
  register(command, context, exit) {
    addServiceOptions(command).action(async (reference: string, options: ServiceOptions) => {
      const fields = { action: 'install' as const, ...readServiceFields(context, options) };
      await runLifecycle(context, reference, options, fields, exit);
    });
  },
};
