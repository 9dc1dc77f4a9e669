// Sums the JSON reports that vitest wrote into a folder; the last line alone tells: `N passed, N failed`.
// Above it stand the tests that failed, and those that passed only when they were tried again, each with its reason.
// A suite that ended without a report counts as failed. Usage: test-totals.mjs <folder> <suite>...
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import process from 'node:process';

/** Lines of a reason that are printed. */
const REASON_LINES = 12;

const [folder, ...suites] = process.argv.slice(2);
const total = { passed: 0, failed: 0, skipped: 0 };
const troubles = [];

for (const suite of suites) {
  const report = reportOf(suite);
  const counts = report === null ? null : countsOf(report);
  process.stdout.write(
    counts === null
      ? `${suite.padEnd(10)} no report\n`
      : `${suite.padEnd(10)} ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`,
  );
  total.passed += counts?.passed ?? 0;
  total.skipped += counts?.skipped ?? 0;
  total.failed += counts?.failed ?? 1;
  if (report !== null) troubles.push(...troublesOf(report));
}
for (const { verdict, title, reason } of troubles) {
  const lines = reason
    .trimEnd()
    .split('\n')
    .filter((line) => !/node_modules|at new Promise/.test(line))
    .slice(0, REASON_LINES);
  process.stdout.write(`\n${verdict}: ${title}\n${lines.map((line) => `  ${line}\n`).join('')}`);
}
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;

function reportOf(suite) {
  try {
    return JSON.parse(readFileSync(join(folder, `${suite}.json`), 'utf8'));
  } catch {
    return null;
  }
}

/** A file that could not be loaded has no tests in the report, so it counts as one failure. */
function countsOf(report) {
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + report.testResults.filter(isBroken).length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

function isBroken(file) {
  return file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed');
}

function troublesOf(report) {
  return report.testResults.flatMap((file) => {
    const name = relative(process.cwd(), file.name);
    if (isBroken(file)) return [{ verdict: 'failed', title: name, reason: file.message }];
    return file.assertionResults
      .filter(
        (test) => test.status === 'failed' || (test.status === 'passed' && test.failureMessages.length > 0),
      )
      .map((test) => ({
        verdict: test.status === 'failed' ? 'failed' : 'passed only when tried again',
        title: `${name} > ${test.fullName}`,
        reason: test.failureMessages.join('\n'),
      }));
  });
}
