// @ts-check
'use strict';
const { runHook } = require('./run.cjs');

/**
 * `svc hook event|commit` as a separate process, which always exits with 0. Returns false and does nothing for any
 * other command line.
 *
 * @param {readonly string[]} argv what follows `hook`
 */
function hookMain(argv) {
  if ((argv[0] !== 'event' && argv[0] !== 'commit') || argv.includes('--help')) return false;
  runHook(argv, { env: process.env, cwd: process.cwd(), now: Date.now }).then(() => process.exit(0));
  return true;
}

module.exports = { hookMain };
