import { join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import type { Agent } from '../../contract/agent.ts';
import type { SignIn } from '../../contract/http/doctor.ts';
import type { HarnessFinding } from '../adapter.ts';
import type { HarnessEnvironment } from '../agent-environment.ts';
import { checkExecutable, gitRoot } from '../first-run.ts';
import type { FirstRunQuery } from '../harness.ts';
import { optionValue } from '../option-value.ts';
import { readJsonConfig, readTomlConfig } from '../own-config.ts';
import { asTable, type Table } from '../table.ts';
import { spellingsOf } from '../transcripts/transcript-files.ts';

/** What would block an unattended start of Codex: a missing login, a folder to trust, hooks to review, approvals. */
export async function checkFirstRun(
  query: FirstRunQuery,
  environment: HarnessEnvironment,
): Promise<HarnessFinding[]> {
  const findings = await checkExecutable(query, environment);
  const config = await readTomlConfig(join(environment.folder, 'config.toml'));
  if (config.broken !== null) return [...findings, config.broken];
  const overrides = commandLineConfig(query.agent.args);
  const layered = { ...config.value, ...overrides };
  const login = await checkLogin(query, layered, environment);
  if (login !== 'unknown') findings.push(...login);
  if (query.project_dir !== null) findings.push(...(await checkTrust(layered, query.project_dir)));
  findings.push(...(await checkHooks(query, layered, environment)));
  findings.push(...checkApprovals(query, layered));
  return findings;
}

/** The `-c key=value` settings of a command line, for simple keys. */
function commandLineConfig(args: readonly string[]): Table {
  const settings: Table = {};
  for (const [index, arg] of args.entries()) {
    const text = arg === '-c' || arg === '--config' ? args[index + 1] : undefined;
    const match = /^([A-Za-z0-9_]+)=(.*)$/s.exec(text ?? '');
    if (match !== null) settings[match[1]!] = tomlValue(match[2]!);
  }
  return settings;
}

function tomlValue(text: string): unknown {
  try {
    return parseToml(`value = ${text}`).value;
  } catch {
    return text;
  }
}

/** What is missing of a login; `unknown` where the files do not tell. */
async function checkLogin(
  { agent }: FirstRunQuery,
  config: Table,
  environment: HarnessEnvironment,
): Promise<HarnessFinding[] | 'unknown'> {
  if (optionValue(agent.args, '-p', '--profile') !== undefined) return 'unknown';
  if (agent.args.includes('--oss')) return [];
  const name = typeof config.model_provider === 'string' ? config.model_provider : 'openai';
  const provider = asTable(asTable(config.model_providers)[name]);
  const key = provider.env_key;
  if (typeof key === 'string' && environment.get(key) === undefined) {
    return [
      {
        severity: 'error',
        what: `Codex takes the key of its provider "${name}" from ${key}, which is not set`,
        mend: `set ${key} for the daemon, or in "env" of ${agent.id} in agents.json`,
      },
    ];
  }
  if (Object.keys(provider).length > 0 && provider.requires_openai_auth !== true) return [];
  if (config.cli_auth_credentials_store === 'keyring') return 'unknown';
  const login = await readJsonConfig(join(environment.folder, 'auth.json'));
  if (login.broken !== null) return [login.broken];
  const { OPENAI_API_KEY, tokens } = login.value;
  if (typeof OPENAI_API_KEY === 'string' || Object.keys(asTable(tokens)).length > 0) return [];
  return [
    {
      severity: 'error',
      what: 'Codex has no login and no provider of its own; it would show the sign-in screen',
      mend: 'run "codex login" as this user, or configure a model provider in config.toml',
    },
  ];
}

async function checkTrust(config: Table, project_dir: string): Promise<HarnessFinding[]> {
  const projects = asTable(config.projects);
  const folders: string[] = [];
  let inGit = false;
  for (const folder of await spellingsOf(project_dir)) {
    const root = await gitRoot(folder);
    if (root !== null) inGit = true;
    folders.push(folder, ...(root === null ? [] : [root]));
  }
  if (!inGit) return [];
  if (folders.some((folder) => typeof asTable(projects[folder]).trust_level === 'string')) return [];
  return [
    {
      severity: 'error',
      what: `Codex would ask whether to trust the repository of ${project_dir}`,
      mend: `run "codex" once in ${project_dir} and answer, or add [projects."${project_dir}"] trust_level = "trusted" to config.toml`,
    },
  ];
}

async function checkHooks(
  { agent }: FirstRunQuery,
  config: Table,
  { folder }: HarnessEnvironment,
): Promise<HarnessFinding[]> {
  if (agent.args.includes('--dangerously-bypass-hook-trust')) return [];
  const file = join(folder, 'hooks.json');
  const hooks = await readJsonConfig(file);
  if (hooks.broken !== null) return [hooks.broken];
  if (Object.keys(asTable(hooks.value.hooks)).length === 0) return [];
  const reviewed = Object.keys(asTable(asTable(config.hooks).state));
  if (reviewed.some((key) => key.startsWith(`${file}:`))) return [];
  return [
    {
      severity: 'error',
      what: `nobody has reviewed the hooks in ${file}; Codex would ask about them and not run them`,
      mend: 'run "codex" once in a terminal as this user and review the hooks',
    },
  ];
}

const UNATTENDED_FLAGS = ['--dangerously-bypass-approvals-and-sandbox', '--yolo', '--approve-for-me'];

function checkApprovals({ agent }: FirstRunQuery, config: Table): HarnessFinding[] {
  if (UNATTENDED_FLAGS.some((flag) => agent.args.includes(flag))) return [];
  const policy = optionValue(agent.args, '-a', '--ask-for-approval') ?? config.approval_policy;
  if (policy === 'never') return [];
  return [
    {
      severity: 'warning',
      what: `agent ${agent.id} asks a person before some commands, so an unattended worker would wait for ever`,
      mend: `add "-a", "never" to "args" of ${agent.id} in agents.json`,
    },
  ];
}

/** A login that a profile or a keyring may hold cannot be told from the files. */
export async function signIn(agent: Agent, environment: HarnessEnvironment): Promise<SignIn> {
  const config = await readTomlConfig(join(environment.folder, 'config.toml'));
  if (config.broken !== null) return { signed_in: null, mend: config.broken.mend };
  const layered = { ...config.value, ...commandLineConfig(agent.args) };
  const login = await checkLogin({ agent, project_dir: null }, layered, environment);
  if (login === 'unknown') return { signed_in: null, mend: 'see "codex login status"' };
  const [missing] = login;
  return { signed_in: missing === undefined, mend: missing?.mend ?? null };
}
