import { planInstall } from '../lifecycle/service-verbs.ts';
import { addServiceOptions, readServiceFields, type ServiceOptions, writeService } from './service-write.ts';
import type { Verb } from './verb.ts';

/** `svc install <fiber>`: makes a fiber a oneshot and arms it. */
export const verb: Verb = {
  name: 'install',
  summary: 'Have a worker take up a fiber once',
  register(command, context, exit) {
    addServiceOptions(command).action(async (reference: string, options: ServiceOptions) => {
      const fields = readServiceFields(context, options);
      await writeService(context, reference, options, (document) => planInstall(document, fields), exit);
    });
  },
};
