import { Option } from 'commander';
import { FIBER_KINDS, type FiberKind } from '../contract/fiber.ts';
import type { Verb } from './command-line/verb.ts';
import {
  addServiceOptions,
  readServiceFields,
  runLifecycle,
  type ServiceOptions,
} from './verbs/lifecycle/write.ts';

type Options = ServiceOptions & { kind?: FiberKind; schedule?: string; tz?: string };

/** `svc reshape <fiber> …`: changes what a service is and keeps what it has lived through. */
export const verb: Verb = {
  name: 'reshape',
  summary: 'Change the kind, schedule, folder or surface of a fiber',
  register(command, context, exit) {
    addServiceOptions(command)
      .addOption(new Option('--kind <kind>', 'what it becomes').choices(FIBER_KINDS))
      .option('--schedule <cron>', 'five cron fields; a new schedule counts from now')
      .option('--tz <zone>', 'time zone of the schedule')
      .action(async (reference: string, options: Options) => {
        const { kind, schedule, tz } = options;
        const fields = {
          action: 'reshape' as const,
          ...readServiceFields(context, options),
          kind,
          schedule,
          tz,
        };
        await runLifecycle(context, reference, options, fields, exit);
      });
  },
};
