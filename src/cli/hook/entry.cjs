// @ts-check
'use strict';
const { runHook } = require('./run.cjs');

/**
 * `svc hook event|context|commit` as a separate process, which always exits with 0. Returns false and does nothing for any
 * other command line.
 *
 * @param {readonly string[]} argv what follows `hook`
 * @param {string} script path of `svc-hook.sh`
 */
function hookMain(argv, script) {
  if (!['event', 'context', 'commit'].includes(argv[0] ?? '') || argv.includes('--help')) return false;
  runHook(argv, { env: process.env, cwd: process.cwd(), script }).then(() => process.exit(0));
  return true;
}

module.exports = { hookMain };
