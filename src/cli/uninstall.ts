import { planUninstall } from '../lifecycle/service-verbs.ts';
import { DRY_RUN } from './rehearsal.ts';
import { writeService } from './service-write.ts';
import type { Verb } from './verb.ts';

/** `svc uninstall <fiber>`: takes the svc block away; already gone is success. */
export const verb: Verb = {
  name: 'uninstall',
  summary: 'Make a fiber a plain document again',
  register(command, context, exit) {
    command
      .argument('<fiber>', 'canonical id, uid or leaf')
      .option('--store <dir>', 'store to look in')
      .option(...DRY_RUN)
      .option('--json', 'print JSON')
      .action(async (reference: string, options: { store?: string; dryRun?: boolean; json?: boolean }) => {
        await writeService(context, reference, options, planUninstall, exit);
      });
  },
};
