import { join } from 'node:path';
import { z } from 'zod';
import { alternatives } from '../../base/alternatives.ts';
import { CodedError } from '../../base/errors.ts';
import { readSettings, type Settings } from '../../config/settings.ts';
import { HARNESS_NAMES, type HarnessName } from '../../contract/harness-name.ts';
import { loadRegistry } from '../../harness/agents/registry.ts';
import type { SetupPlace, SetupTarget } from '../../harness/harness.ts';
import { HARNESSES, harnessFolder } from '../../harness/harnesses.ts';
import { hookSkew } from '../../harness/hooks/skew.ts';
import { packageSkills, readSkillFiles } from '../../harness/hooks/worker-skills.ts';
import { type Argument, option } from '../command-line/options.ts';
import { defineVerb, EXIT } from '../command-line/verb.ts';
import { DEMO_AGENT } from './demo/store.ts';
import { applyChanges, planInstall, planUninstall } from './setup/plan.ts';

const HARNESS: Argument<HarnessName> = {
  ...{ usage: '<harness>', description: HARNESS_NAMES.join(', '), completes: HARNESS_NAMES },
  parse: harnessName,
};

function harnessName(text: string): HarnessName {
  const name = HARNESS_NAMES.find((each) => each === text);
  if (name !== undefined) return name;
  throw new CodedError(
    'invalid_request',
    `there is no agent program ${text}; name ${alternatives(HARNESS_NAMES)}`,
  );
}

/** `svc setup <harness>`: installs the worker skills and the hooks in the agent program's folders. */
export const verb = defineVerb({
  summary: 'Install the worker skills and hooks for an agent program',
  arguments: { harness: HARNESS },
  options: {
    uninstall: option('--uninstall', 'remove exactly what a setup installed'),
    dry_run: option('--dry-run', 'say what would be changed and write nothing'),
  },
  examples: [['svc setup claude --dry-run', 'says which skills and hooks it would install']],
  page: 'setup.md',
  json: z.looseObject({
    harness: z.string(),
    mode: z.enum(['install', 'uninstall']),
    dry_run: z.boolean(),
    changes: z.array(z.object({ path: z.string(), action: z.enum(['create', 'update', 'remove']) })),
    kept: z.array(z.string()),
  }),
  exits: { 1: 'something was left out' },
  async run(context, { harness, uninstall, dry_run = false }) {
    const mode = uninstall === true ? 'uninstall' : 'install';
    const settings = readSettings(context.env);
    const env = settings.demo ? demoAgentEnvironment(context.env, settings, harness) : context.env;
    const temp = join(settings.data_dir, 'tmp');
    const { home, files, shared, lacks } = await setupTarget(harness, { env, temp, mode });
    const { kept, ...plan } =
      mode === 'install' ? planInstall(home, files, shared) : planUninstall(home, shared);
    if (!dry_run) applyChanges(home, plan.changes);
    const changes = plan.changes.map(({ path, action }) => ({ path, action }));
    const off = mode === 'install' && !dry_run && lacks === null ? await hooksOff(harness, home, env) : null;
    const text = [
      ...changes.map(({ path, action }) => `${dry_run ? 'would ' : ''}${action} ${path}\n`),
      ...kept.map((path) => `kept ${path}: it was changed since the setup\n`),
      changes.length === 0 ? `${harness}: nothing to change\n` : '',
    ].join('');
    return {
      json: { harness, mode, dry_run, changes, kept, lacks: lacks ?? off },
      text,
      warnings: [lacks, off].filter((warning) => warning !== null),
      exit: lacks === null && off === null ? EXIT.ok : EXIT.refused,
    };
  },
});

/** Why the hooks that were just written will not run, with the fix; null where they will. */
async function hooksOff(harness: HarnessName, home: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const skew = hookSkew({ harness, ...(await HARNESSES[harness].setup.compareHooks(home, env)) });
  return skew === null
    ? null
    : `the hooks of ${HARNESSES[harness].title} are written, but ${skew.what}; ${skew.mend}`;
}

/** A verb on the demo changes nothing of the user's: it sets up the agent of the demo, which has a folder of its own. */
function demoAgentEnvironment(
  env: NodeJS.ProcessEnv,
  settings: Settings,
  harness: HarnessName,
): NodeJS.ProcessEnv {
  const agent = loadRegistry(settings).agents.find(({ id }) => id === DEMO_AGENT);
  if (agent?.harness === harness) return { ...env, ...agent.env };
  throw new CodedError(
    'invalid_request',
    agent === undefined
      ? 'there is no demo to set up yet; start it first'
      : `the demo sets up its own agent only, which takes the hooks of ${HARNESSES[agent.harness].title}; for your own setup, leave out the word demo`,
  );
}

/** The setup target of one harness, with everything that a setup installs. */
export async function setupTarget(
  name: HarnessName,
  place: Omit<SetupPlace, 'folder'>,
): Promise<SetupTarget & { home: string }> {
  const home = harnessFolder({ harness: name, env: {} }, place.env);
  const { setup } = HARNESSES[name];
  const { files = new Map(), shared = [], lacks = null } = await setup.target({ ...place, folder: home });
  const skills = [...(await readSkillFiles(packageSkills()))].map(
    ([path, text]) => [`skills/${path}`, text] as const,
  );
  return { home, files: new Map([...skills, ...files]), shared, lacks };
}
