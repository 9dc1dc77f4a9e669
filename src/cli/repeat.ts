import type { Verb } from './command-line/verb.ts';
import {
  addServiceOptions,
  readServiceFields,
  runLifecycle,
  type ServiceOptions,
} from './verbs/lifecycle/write.ts';

/** `svc repeat <fiber> --schedule …`: makes a fiber a standing role and arms it (STD-1). */
export const verb: Verb = {
  name: 'repeat',
  summary: 'Have a worker take up a fiber on a schedule',
  register(command, context, exit) {
    addServiceOptions(command)
      .requiredOption('--schedule <cron>', 'five cron fields, such as "0 9 * * 1-5"')
      .option('--tz <zone>', 'time zone of the schedule; that of this machine otherwise')
      .action(async (reference: string, options: ServiceOptions & { schedule: string; tz?: string }) => {
        const fields = {
          action: 'repeat' as const,
          ...readServiceFields(context, options),
          schedule: options.schedule,
          tz: options.tz,
        };
        await runLifecycle(context, reference, options, fields, exit);
      });
  },
};
