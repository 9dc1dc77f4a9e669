import { join, resolve } from 'node:path';
import { z } from 'zod';
import { changePathList, type PathListWrite } from '../../../config/path-lists.ts';
import { expandHome, readSettings } from '../../../config/settings.ts';
import { rehearsal } from '../../../contract/http/rehearsal.ts';
import { FIBERS_FOLDER } from '../../../fibers/fiber-id.ts';
import { initStore } from '../../../fibers/store.ts';
import { type Argument, argument, DRY_RUN, option } from '../../command-line/options.ts';
import { rehearsed } from '../../command-line/rehearsal.ts';
import { defineVerb } from '../../command-line/verb.ts';

/** `svc fiber init [dir]`: makes a folder a store; idempotent. */
export const verb = defineVerb({
  summary: 'Make a folder a store',
  arguments: { dir: { ...argument('[dir]', 'the folder'), fallback: '.' } as Argument<string> },
  options: {
    poll: option('--poll', 'name it in stores.json, so that the daemon works on its fibers'),
    dry_run: DRY_RUN,
  },
  examples: [['svc fiber init ~/notes --poll', 'makes a store and has the daemon work on it']],
  json: z.object({ store: z.string(), stores: z.array(z.string()).nullable() }),
  async run(context, { dir, poll, dry_run }) {
    const root = resolve(context.cwd, expandHome(dir));
    if (dry_run === true) {
      const listed = poll === true ? ' and name it in stores.json' : '';
      return rehearsed(rehearsal(`make ${join(root, FIBERS_FOLDER)}${listed}`));
    }
    const store = initStore(root);
    const polled =
      poll === true ? await changePathList(readSettings(context.env), 'stores', { add: store.root }) : null;
    return {
      json: { store: store.root, stores: polled?.paths ?? null },
      text: `Store ${store.root}\n${polled === null ? '' : describePolled(polled)}`,
      one_line: true,
    };
  },
});

function describePolled(polled: PathListWrite): string {
  if (polled.overridden_by !== null)
    return `Listed in ${polled.file}, which counts only once ${polled.overridden_by} is unset.\n`;
  if (!polled.changed) return `Listed in ${polled.file} already.\n`;
  return `Listed in ${polled.file}; a daemon that runs takes it up with its next poll\n`;
}
