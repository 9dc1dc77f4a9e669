// @ts-check
'use strict';
const { runHook } = require('./run.cjs');

/**
 * `svc hook event|commit` as a process of its own, which always ends with 0. False, and nothing done, for another
 * command line.
 *
 * @param {readonly string[]} argv what follows `hook`
 */
function hookMain(argv) {
  if ((argv[0] !== 'event' && argv[0] !== 'commit') || argv.includes('--help')) return false;
  runHook(argv, { env: process.env, cwd: process.cwd(), now: Date.now }).then(() => process.exit(0));
  return true;
}

module.exports = { hookMain };
