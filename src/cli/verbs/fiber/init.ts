import { join, resolve } from 'node:path';
import { z } from 'zod';
import { CodedError } from '../../../base/errors.ts';
import { shellWord } from '../../../base/shell-word.ts';
import { svcOf } from '../../../config/own-command.ts';
import { changePathList, type PathListWrite, readStores } from '../../../config/path-lists.ts';
import { expandHome, readSettings, type Settings } from '../../../config/settings.ts';
import { rehearsal } from '../../../contract/http/rehearsal.ts';
import { FIBERS_FOLDER } from '../../../fibers/fiber-id.ts';
import { identifyStore } from '../../../fibers/identify-store.ts';
import { initStore } from '../../../fibers/store.ts';
import { type Argument, argument, DRY_RUN, option } from '../../command-line/options.ts';
import { rehearsed } from '../../command-line/rehearsal.ts';
import { type CliContext, defineVerb } from '../../command-line/verb.ts';
import { openAnswering } from '../../find-fiber.ts';

/** `svc fiber init [dir]`: makes a folder a store; idempotent. The first store of a machine is listed by itself. */
export const verb = defineVerb({
  summary: 'Make a folder a store',
  arguments: { dir: { ...argument('[dir]', 'the folder'), fallback: '.' } as Argument<string> },
  options: {
    poll: option(
      '--poll',
      'add it to stores.json, so that the daemon works on it; the first store needs no --poll',
    ),
    no_poll: option('--no-poll', 'do not add it there, even if it is the first'),
    dry_run: DRY_RUN,
  },
  examples: [
    ['svc fiber init ~/fibers', 'makes a store; where it is the first, the daemon works on it'],
    ['svc fiber init ~/more --poll', 'makes another one and has the daemon work on it'],
  ],
  json: z.object({ store: z.string(), stores: z.array(z.string()).nullable() }),
  async run(context, { dir, poll, dry_run }) {
    const root = resolve(context.cwd, expandHome(dir));
    const settings = readSettings(context.env);
    const known = poll === true ? [] : readStores(settings).paths;
    const lists = poll ?? known.length === 0;
    if (dry_run === true) {
      const listed = lists ? ' and name it in stores.json' : '';
      return rehearsed(rehearsal(`make ${join(root, FIBERS_FOLDER)}${listed}`));
    }
    const store = initStore(root);
    if (lists) await requireNoAlias(context, store.root, settings);
    const polled = lists ? await changePathList(settings, 'stores', { add: store.root }) : null;
    const text = polled === null ? describeUnpolled(store.root, known, settings) : describePolled(polled);
    return {
      json: { store: store.root, stores: polled?.paths ?? null },
      text: `Store ${store.root}\n${text}`,
      one_line: true,
    };
  },
});

/** A store that is listed under two paths would have each fiber twice, and none would start. */
async function requireNoAlias(context: CliContext, root: string, settings: Settings): Promise<void> {
  const identity = identifyStore(root);
  for (const listed of listedIn(settings))
    if (listed !== root && (await identityOf(context, listed)) === identity)
      throw new CodedError('already_exists', `${root} is the store ${listed}, which is listed already`);
}

function listedIn(settings: Settings): readonly string[] {
  try {
    return readStores(settings).paths;
  } catch {
    // The write of the list says what is wrong with it.
    return [];
  }
}

/** Null for a store that is away. */
async function identityOf(context: CliContext, root: string): Promise<string | null> {
  try {
    return identifyStore((await openAnswering(context, root, false)).root);
  } catch {
    return null;
  }
}

function describePolled(polled: PathListWrite): string {
  if (polled.overridden_by !== null)
    return `Listed in ${polled.file}, which counts only once ${polled.overridden_by} is unset.\n`;
  if (!polled.changed) return `Listed in ${polled.file} already.\n`;
  return `Listed in ${polled.file}; a daemon that runs works on it from now on.\n`;
}

/** What has the daemon work on a store that was not listed. */
function describeUnpolled(root: string, known: readonly string[], settings: Settings): string {
  if (known.includes(root)) return '';
  return settings.stores === null
    ? `The daemon does not work on it; have it do so with: ${svcOf(settings)} fiber init ${shellWord(root)} --poll\n`
    : `The daemon does not work on it, since SVC_STORES names other folders; add it there.\n`;
}
