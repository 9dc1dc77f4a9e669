#!/usr/bin/env node
// @ts-check
// `svc`: what is called by hooks is taken first, for an agent waits for it; the launcher gets everything else.
// CommonJS, and plain JavaScript like all that a hook loads: Node's loader of ES modules and the stripping of types
// would take longer than the hook itself, which may run on any Node from 18 on.
'use strict';
const { existsSync } = require('node:fs');
const { join } = require('node:path');

if (process.argv[2] !== 'hook' || !takesHook(process.argv.slice(3))) import('./launcher.mjs');

/** @param {readonly string[]} argv */
function takesHook(argv) {
  const source = join(__dirname, 'hook/entry.cjs');
  const entry = existsSync(source) ? source : join(__dirname, '../../dist/src/cli/hook/entry.cjs');
  return /** @type {typeof import('./hook/entry.cjs')} */ (require(entry)).hookMain(argv);
}
