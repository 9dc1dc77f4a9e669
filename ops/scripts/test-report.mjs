// A vitest reporter: writes what test-totals.mjs sums, as JSON, to the file that TEST_REPORT names:
// `{ passed, failed, skipped, troubles: [{ verdict, title, reason }] }`. A file that could not be loaded, a hook around
// several tests that failed, and an error outside of all tests count as one failure each.
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { stripVTControlCharacters } from 'node:util';

const FAILED = 'failed';
const RETRIED = 'passed only when tried again';

export default class TestReport {
  onTestRunEnd(modules, unhandled) {
    const cases = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state) => cases.filter((test) => test.result().state === state).length;
    const broken = [
      ...modules.flatMap((module) => [module, ...module.children.allSuites()]).flatMap(brokenOf),
      ...unhandled.map((error) => trouble(FAILED, 'outside of all tests', [error])),
    ];
    const report = {
      passed: count('passed'),
      failed: count('failed') + broken.length,
      skipped: count('skipped'),
      troubles: [...broken, ...cases.flatMap(troubleOf)],
    };
    writeFileSync(process.env.TEST_REPORT, JSON.stringify(report));
  }
}

/** What failed around the tests of a file or of a `describe`. */
function brokenOf(suite) {
  const errors = suite.errors();
  if (errors.length === 0) return [];
  const title =
    suite.type === 'module'
      ? suite.relativeModuleId
      : `${suite.module.relativeModuleId} > ${suite.fullName} (before or after its tests)`;
  return [trouble(FAILED, title, errors)];
}

function troubleOf(test) {
  const { state, errors } = test.result();
  if (state !== FAILED && !errors?.length) return [];
  return [
    trouble(
      state === FAILED ? FAILED : RETRIED,
      `${test.module.relativeModuleId} > ${test.fullName}`,
      errors ?? [],
    ),
  ];
}

function trouble(verdict, title, errors) {
  return { verdict, title, reason: errors.map(reasonOf).join('\n') };
}

/** What was thrown and where; for a comparison, also how the two values differ. */
function reasonOf({ stack, message, diff }) {
  return [stack ?? message, ...(diff ? [stripVTControlCharacters(diff)] : [])].join('\n');
}
