// Sums the reports that test-report.mjs wrote into a folder; the last line alone tells: `N passed, N failed`.
// Above it stand the tests that failed, and those that passed only when they were tried again, each with its reason.
// A suite that ended without a report counts as failed. Usage: test-totals.mjs <folder> <suite>...
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

/** Lines of a reason that are printed. */
const REASON_LINES = 30;

const [folder, ...suites] = process.argv.slice(2);
const reports = suites.map((suite) => ({ suite, report: reportOf(suite) }));

for (const { suite, report } of reports) {
  process.stdout.write(
    report === null
      ? `${suite.padEnd(10)} no report\n`
      : `${suite.padEnd(10)} ${report.passed} passed, ${report.failed} failed, ${report.skipped} skipped\n`,
  );
}
for (const { verdict, title, reason } of reports.flatMap(({ report }) => report?.troubles ?? [])) {
  const lines = reason
    .trimEnd()
    .split('\n')
    .filter((line) => !/node_modules|at new Promise/.test(line))
    .slice(0, REASON_LINES);
  process.stdout.write(`\n${verdict}: ${title}\n${lines.map((line) => `  ${line}\n`).join('')}`);
}
const passed = reports.reduce((sum, { report }) => sum + (report?.passed ?? 0), 0);
const failed = reports.reduce((sum, { report }) => sum + (report?.failed ?? 1), 0);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

function reportOf(suite) {
  try {
    return JSON.parse(readFileSync(join(folder, `${suite}.json`), 'utf8'));
  } catch {
    return null;
  }
}
