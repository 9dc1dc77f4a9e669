import { z } from 'zod';
import { messageOf } from '../../base/errors.ts';
import { operatorFilePaths } from '../../config/paths.ts';
import { readSettings } from '../../config/settings.ts';
import { answersNow, createDisks, type Disks } from '../../platform/disks.ts';
import { createRunner } from '../../platform/process.ts';
import { option } from '../command-line/options.ts';
import { whileTelling } from '../command-line/spinner.ts';
import { defineVerb, EXIT } from '../command-line/verb.ts';
import { findDaemon } from '../daemon-client/daemon-file.ts';
import { type DoctorContext, type Finding, fail, findingSchema, type NamedCheck } from './doctor/check.ts';
import { CHECKS } from './doctor/checks.ts';
import { doctorPage } from './doctor/doctor-page.ts';

/** Timeout of one check, in milliseconds; longer than any single wait inside a check. */
const CHECK_LIMIT_MS = 60_000;

/** `svc doctor`: checks the installation and says how to fix each fault. */
export const verb = defineVerb({
  summary: 'Check this installation and say how to fix it',
  options: { all: option('--all', 'show the checks that passed too') },
  examples: [['svc doctor', 'checks everything, and says how to fix each fault']],
  note: 'Into a file or a pipe every finding is printed.',
  json: z.object({ ok: z.boolean(), findings: z.array(findingSchema) }),
  exits: { 1: 'a check failed' },
  async run(context, { all = false }) {
    const settings = readSettings(context.env);
    const { clock, env } = context;
    const disks = createDisks({ clock, runner: createRunner() });
    const findings = await whileTelling(context, 'Checking this machine', () =>
      findAll({ env, clock, settings, disks }).finally(() => disks.stop()),
    );
    const ok = findings.every((finding) => finding.level !== 'fail');
    return {
      json: { ok, findings },
      text: doctorPage(findings, context, all),
      exit: ok ? EXIT.ok : EXIT.refused,
    };
  },
});

/** Every finding; those of silent operator files alone where there are any, since nearly every check reads them. */
async function findAll(context: Omit<DoctorContext, 'daemon'> & { disks: Disks }): Promise<Finding[]> {
  const { settings, disks } = context;
  const files = [settings.config_dir, ...Object.values(operatorFilePaths(settings))];
  const proofs = await Promise.all(files.map((file) => answersNow(disks, file)));
  const silent = files.filter((_, nth) => proofs[nth] === 'silent');
  if (silent.length > 0)
    return silent.map((file) =>
      fail('config folder', `the disk of ${file} does not answer`, 'mount it again, then run: svc doctor'),
    );
  return examine({ ...context, daemon: await findDaemon(settings) });
}

/** Runs every check at the same time; each has its own findings, whatever happens to the others. */
async function examine(context: DoctorContext): Promise<Finding[]> {
  const found = await Promise.all(CHECKS.map((named) => runCheck(named, context)));
  return found.flat();
}

/** The findings of one check; an error or a timeout becomes one failed finding. */
export async function runCheck({ name, check }: NamedCheck, context: DoctorContext): Promise<Finding[]> {
  let cancel = () => {};
  const overdue = new Promise<Finding[]>((resolve) => {
    cancel = context.clock.after(CHECK_LIMIT_MS, () => {
      const what = `this check did not end within ${CHECK_LIMIT_MS / 1_000} s`;
      resolve([fail(name, what, 'find the disk or program that does not answer, then run: svc doctor')]);
    });
  });
  try {
    return await Promise.race([Promise.resolve(context).then(check), overdue]);
  } catch (error) {
    const mend =
      'correct the file or program that it names, then run: svc doctor; the other checks are complete';
    return [fail(name, `this check failed: ${messageOf(error)}`, mend)];
  } finally {
    cancel();
  }
}
