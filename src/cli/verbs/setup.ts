import { join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { readSettings } from '../../config/settings.ts';
import { HARNESS_NAMES, type HarnessName } from '../../contract/harness-name.ts';
import { printJson } from '../command-line/output.ts';
import { type CliContext, EXIT, type ExitCode, type Verb } from '../command-line/verb.ts';
import { applyChanges } from './setup/apply.ts';
import { planInstall, planUninstall } from './setup/plan.ts';
import { setupTarget } from './setup/targets.ts';

type Options = { uninstall?: boolean; dryRun?: boolean; json?: boolean };

/** `svc setup <harness>`: puts the worker skills and the hooks where the agent program looks for them. */
export const verb: Verb = {
  name: 'setup',
  summary: 'Give an agent program the skills and hooks',
  register(command, context, exit) {
    command
      .argument('<harness>', HARNESS_NAMES.join(', '), harnessName)
      .option('--uninstall', 'take out exactly what a setup put in')
      .option('--dry-run', 'say what would be changed and write nothing')
      .option('--json', 'answer as JSON')
      .action(async (harness: HarnessName, options: Options) => exit(await run(context, harness, options)));
  },
};

function harnessName(text: string): HarnessName {
  const name = HARNESS_NAMES.find((each) => each === text);
  if (name === undefined) throw new InvalidArgumentError(`Choose one of ${HARNESS_NAMES.join(', ')}.`);
  return name;
}

async function run(context: CliContext, harness: HarnessName, options: Options): Promise<ExitCode> {
  const mode = options.uninstall === true ? 'uninstall' : 'install';
  const temp = join(readSettings(context.env).data_dir, 'tmp');
  const target = await setupTarget(harness, context.env, temp, mode);
  const plan =
    mode === 'install'
      ? planInstall(target.home, target.files, target.shared)
      : planUninstall(target.home, target.shared);
  const dry_run = options.dryRun === true;
  if (!dry_run) applyChanges(target.home, plan.changes);
  const changes = plan.changes.map(({ path, action }) => ({ path, action }));
  if (options.json)
    printJson(context, { harness, mode, dry_run, changes, kept: plan.kept, lacks: target.lacks });
  else {
    const would = dry_run ? 'would ' : '';
    for (const { path, action } of changes) context.out(`${would}${action} ${path}\n`);
    for (const path of plan.kept) context.out(`kept ${path}: it was changed since the setup\n`);
    if (changes.length === 0) context.out(`${harness}: nothing to change\n`);
    if (target.lacks !== null) context.err(`svc: ${target.lacks}\n`);
  }
  return target.lacks === null ? EXIT.ok : EXIT.refused;
}
