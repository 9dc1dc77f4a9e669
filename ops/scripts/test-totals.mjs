// Sums the JSON reports that vitest wrote into a folder; the last line alone tells: `N passed, N failed`.
// A suite that ended without a report counts as failed. Usage: test-totals.mjs <folder> <suite>...
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const [folder, ...suites] = process.argv.slice(2);
const total = { passed: 0, failed: 0, skipped: 0 };

for (const suite of suites) {
  const counts = countsOf(suite);
  process.stdout.write(
    counts === null
      ? `${suite.padEnd(10)} no report\n`
      : `${suite.padEnd(10)} ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`,
  );
  total.passed += counts?.passed ?? 0;
  total.skipped += counts?.skipped ?? 0;
  total.failed += counts?.failed ?? 1;
}
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;

/** A file that could not be loaded has no tests in the report, so it counts as one failure. */
function countsOf(suite) {
  try {
    const report = JSON.parse(readFileSync(join(folder, `${suite}.json`), 'utf8'));
    const broken = report.testResults.filter(
      (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
    ).length;
    return {
      passed: report.numPassedTests,
      failed: report.numFailedTests + broken,
      skipped: report.numPendingTests + report.numTodoTests,
    };
  } catch {
    return null;
  }
}
