import { planPin } from '../lifecycle/service-verbs.ts';
import { addServiceOptions, readServiceFields, type ServiceOptions, writeService } from './service-write.ts';
import type { Verb } from './verb.ts';

/** `svc pin <fiber>`: makes a fiber a role that is started only by hand. */
export const verb: Verb = {
  name: 'pin',
  summary: 'Keep a fiber as a role that is started by hand',
  register(command, context, exit) {
    addServiceOptions(command).action(async (reference: string, options: ServiceOptions) => {
      const fields = readServiceFields(context, options);
      await writeService(context, reference, options, (document) => planPin(document, fields), exit);
    });
  },
};
