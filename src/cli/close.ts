import type { Verb } from './command-line/verb.ts';
import {
  addFiberArgument,
  addLifecycleOptions,
  type LifecycleOptions,
  runLifecycle,
} from './verbs/lifecycle/write.ts';

/** `svc close <fiber>`: closes a fiber without a verdict; closed already is success. */
export const verb: Verb = {
  name: 'close',
  summary: 'Close a fiber for review',
  register(command, context, exit) {
    addLifecycleOptions(
      addFiberArgument(command)
        .option('--outcome <line>', 'the line that the card shows')
        .option('--kill', 'also stop the worker that runs; it goes on otherwise'),
    ).action(async (reference: string, options: LifecycleOptions & { outcome?: string; kill?: boolean }) => {
      await runLifecycle(
        context,
        reference,
        options,
        { action: 'close', outcome: options.outcome, kill: options.kill },
        exit,
      );
    });
  },
};
