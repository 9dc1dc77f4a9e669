import { messageOf } from '../../base/errors.ts';
import { readSettings } from '../../config/settings.ts';
import { createDisks } from '../../platform/disks.ts';
import { createRunner } from '../../platform/process.ts';
import { printJson } from '../command-line/output.ts';
import { type CliContext, EXIT, type ExitCode, type Verb } from '../command-line/verb.ts';
import { findDaemon } from '../daemon-client/daemon-file.ts';
import { type DoctorContext, type Finding, fail, type NamedCheck } from './doctor/check.ts';
import { CHECKS } from './doctor/checks.ts';

/** Longer than the longest wait of a check for one program or one answer. */
const CHECK_LIMIT_MS = 60_000;

/** `svc doctor`: everything an operator can get wrong, and how to mend it. */
export const verb: Verb = {
  name: 'doctor',
  summary: 'Check this installation and say how to mend it',
  register(command, context, exit) {
    command
      .option('--json', 'answer as JSON')
      .action(async (options: { json?: boolean }) => exit(await run(context, options)));
  },
};

async function run(context: CliContext, options: { json?: boolean }): Promise<ExitCode> {
  const settings = readSettings(context.env);
  const { clock, env } = context;
  const daemon = await findDaemon(settings);
  const disks = createDisks({ clock, runner: createRunner() });
  const findings = await examine({ env, clock, settings, daemon, disks }).finally(() => disks.stop());
  const failed = findings.some((finding) => finding.level === 'fail');
  if (options.json) printJson(context, { ok: !failed, findings });
  else context.out(findings.map(line).join(''));
  return failed ? EXIT.refused : EXIT.ok;
}

/** Runs every check; they look at different things, so all at once, and none can take another's findings away. */
async function examine(context: DoctorContext): Promise<Finding[]> {
  const found = await Promise.all(CHECKS.map((named) => runCheck(named, context)));
  return found.flat();
}

/** The findings of one check; what it throws and a wait without an end become one failed finding. */
export async function runCheck({ name, check }: NamedCheck, context: DoctorContext): Promise<Finding[]> {
  let cancel = () => {};
  const overdue = new Promise<Finding[]>((resolve) => {
    cancel = context.clock.after(CHECK_LIMIT_MS, () => {
      const what = `this check did not end within ${CHECK_LIMIT_MS / 1_000} s`;
      resolve([fail(name, what, 'look for a disk or a program that does not answer, then run: svc doctor')]);
    });
  });
  try {
    return await Promise.race([Promise.resolve(context).then(check), overdue]);
  } catch (error) {
    const mend = 'correct what the sentence names, then run: svc doctor; everything else was checked';
    return [fail(name, `this check could not be made: ${messageOf(error)}`, mend)];
  } finally {
    cancel();
  }
}

function line(finding: Finding): string {
  const head = `${finding.level.padEnd(4)}  ${finding.name}: ${finding.what}\n`;
  return finding.mend === null ? head : `${head}      mend: ${finding.mend}\n`;
}
