import { readSettings } from '../config/settings.ts';
import { findDaemon } from './daemon-file.ts';
import type { DoctorContext, Finding } from './doctor/check.ts';
import { CHECKS } from './doctor/checks.ts';
import { printable, printJson } from './output.ts';
import { type CliContext, EXIT, type ExitCode, type Verb } from './verb.ts';

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
  const findings = await examine({
    env: context.env,
    settings,
    daemon: await findDaemon(settings),
  });
  const failed = findings.some((finding) => finding.level === 'fail');
  if (options.json) printJson(context, { ok: !failed, findings });
  else context.out(findings.map(line).join(''));
  return failed ? EXIT.refused : EXIT.ok;
}

/** Runs every check; they look at different things, so all at once. */
export async function examine(context: DoctorContext): Promise<Finding[]> {
  const found = await Promise.all(CHECKS.map((check) => check(context)));
  return found.flat();
}

function line(finding: Finding): string {
  const head = `${finding.level.padEnd(4)}  ${finding.name}: ${printable(finding.what)}\n`;
  return finding.mend === null ? head : `${head}      mend: ${printable(finding.mend)}\n`;
}
