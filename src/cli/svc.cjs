#!/usr/bin/env node
// @ts-check
// `svc`: handles hook calls itself, because an agent waits for them, and passes all others to the launcher.
// CommonJS and plain JavaScript, like all modules of a hook: Node's loader of ES modules and type stripping would take
// longer than the hook itself, and a hook may run on any Node from 18 on.
'use strict';
const { existsSync } = require('node:fs');
const { join } = require('node:path');

if (process.argv[2] !== 'hook' || !takesHook(process.argv.slice(3))) import('./launcher.mjs');

/** @param {readonly string[]} argv */
function takesHook(argv) {
  const source = join(__dirname, 'hook/entry.cjs');
  const entry = existsSync(source) ? source : join(__dirname, '../../dist/src/cli/hook/entry.cjs');
  return /** @type {typeof import('./hook/entry.cjs')} */ (require(entry)).hookMain(
    argv,
    join(__dirname, 'svc-hook.sh'),
  );
}
