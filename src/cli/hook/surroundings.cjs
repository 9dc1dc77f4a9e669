// @ts-check
'use strict';
const { join } = require('node:path');
const { endOfFile } = require('./read-file.cjs');

/** Read limit. A hook needs the last line of one of these files, and all of the others, which are short. */
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * The run directory of the agent that calls: its environment names it, or the pane of a session that was claimed.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string | null>}
 */
async function runDirOf(env) {
  const named = given(env.SVC_RUN_DIR);
  if (named !== null) return named;
  const server = /,(\d+),\d+$/.exec(env.TMUX ?? '')?.[1];
  const pane = /^%(\d+)$/.exec(env.TMUX_PANE ?? '')?.[1];
  if (server === undefined || pane === undefined) return null;
  const launch = (await textOf(join(dataDirOf(env), 'claimed', `${server}-${pane}`)))?.trim() ?? '';
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(launch)) return null;
  const runDir = join(dataDirOf(env), 'runs', launch);
  const state = field((await textOf(join(runDir, 'run.json'))) ?? '', 'state');
  return state === null || state === 'ended' ? null : runDir;
}

/**
 * The session of this run: the newest one that its hooks reported, else the one it was launched with.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string | null>}
 */
async function runSession(env) {
  const runDir = await runDirOf(env);
  if (runDir === null) return null;
  for (const line of ((await textOf(join(runDir, 'sessions.jsonl'))) ?? '').split('\n').reverse()) {
    const session = field(line, 'session');
    if (session !== null) return session;
  }
  return field((await textOf(join(runDir, 'run.json'))) ?? '', 'session_uuid');
}

/** @param {NodeJS.ProcessEnv} env */
async function muxSessionOf(env) {
  const runDir = await runDirOf(env);
  return runDir === null ? null : field((await textOf(join(runDir, 'run.json'))) ?? '', 'mux_session');
}

/**
 * @param {readonly string[]} argv
 * @param {NodeJS.ProcessEnv} env
 */
function harnessOf(argv, env) {
  const at = argv.indexOf('--harness');
  return (at === -1 ? undefined : argv[at + 1]) ?? given(env.SVC_HARNESS) ?? 'claude';
}

/**
 * The same as `config/host-identity.ts`, without loading its schemas.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string | null>}
 */
async function hostOf(env) {
  const named = given(env.SVC_HOST);
  if (named !== null) return named.trim();
  const folder = given(env.SVC_CONFIG_DIR) ?? join(homeOf(env), '.config', 'svc');
  const file = given(env.SVC_HOST_CONFIG_FILE) ?? join(folder, 'host.json');
  const inFile = field((await textOf(file)) ?? '', 'host');
  if (inFile !== null) return inFile;
  const [os = ''] = require('node:os').hostname().trim().toLowerCase().split('.');
  return os.replace(/[^a-z0-9-]+/g, '-').replace(/^-+|-+$/g, '');
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {'events' | 'commits'} name
 */
function ledgerPath(env, name) {
  const file = given(name === 'events' ? env.SVC_EVENTS_FILE : env.SVC_COMMITS_FILE);
  if (file !== null) return file;
  return join(dataDirOf(env), `${name}.jsonl`);
}

/** @param {NodeJS.ProcessEnv} env */
function messagesDir(env) {
  return join(dataDirOf(env), 'messages');
}

/** @param {NodeJS.ProcessEnv} env */
function dataDirOf(env) {
  return given(env.SVC_DATA_DIR) ?? join(homeOf(env), '.svc');
}

/** @param {NodeJS.ProcessEnv} env */
function homeOf(env) {
  return given(env.HOME) ?? require('node:os').homedir();
}

/**
 * @param {string | undefined} value
 * @returns {string | null}
 */
function given(value) {
  return value === undefined || value.trim() === '' ? null : value;
}

/** @param {string} path */
function textOf(path) {
  return endOfFile(path, MOST_BYTES);
}

/**
 * @param {string} json
 * @param {string} name
 * @returns {string | null}
 */
function field(json, name) {
  try {
    const value = JSON.parse(json)[name];
    return typeof value === 'string' && value !== '' ? value : null;
  } catch {
    return null;
  }
}

module.exports = { harnessOf, hostOf, ledgerPath, messagesDir, muxSessionOf, runDirOf, runSession };
