import { join } from 'node:path';
import type { Agent } from '../../contract/agent.ts';
import type { SignIn } from '../../contract/http/doctor.ts';
import { statForeign } from '../../platform/foreign-paths.ts';
import { withParents } from '../../platform/git-folder.ts';
import type { HarnessFinding } from '../adapter.ts';
import type { AgentEnvironment, HarnessEnvironment } from '../agent-environment.ts';
import { checkExecutable } from '../first-run.ts';
import type { FirstRunQuery, ProcessFacts } from '../harness.ts';
import { readJsonConfig } from '../own-config.ts';
import { asTable, type Table } from '../table.ts';
import { spellingsOf } from '../transcripts/transcript-files.ts';

/** What would block an unattended start of Pi: a folder with its own settings to trust, or no model to use. */
export async function checkFirstRun(
  query: FirstRunQuery,
  environment: HarnessEnvironment,
  { env }: ProcessFacts,
): Promise<HarnessFinding[]> {
  const inAgentDir = (name: string) => readJsonConfig(join(environment.folder, name));
  const [settings, trust, models, login] = await Promise.all([
    inAgentDir('settings.json'),
    inAgentDir('trust.json'),
    inAgentDir('models.json'),
    inAgentDir('auth.json'),
  ]);
  const findings = await checkExecutable(query, environment);
  for (const { broken } of [settings, trust, models, login]) if (broken !== null) findings.push(broken);
  if (query.project_dir !== null) {
    findings.push(...(await checkTrust(query, settings.value, trust.value, environment)));
  }
  findings.push(...checkModels(models.value, login.value, query, env));
  return findings;
}

const TRUSTED_RESOURCES = [
  'settings.json',
  'extensions',
  'skills',
  'prompts',
  'themes',
  'SYSTEM.md',
  'APPEND_SYSTEM.md',
];
const TRUST_FLAGS = ['--approve', '-a', '--no-approve', '-na'];

async function checkTrust(
  { agent, project_dir }: FirstRunQuery,
  settings: Table,
  trust: Table,
  { home }: AgentEnvironment,
): Promise<HarnessFinding[]> {
  const { defaultProjectTrust } = settings;
  if (TRUST_FLAGS.some((flag) => agent.args.includes(flag))) return [];
  if (defaultProjectTrust === 'always' || defaultProjectTrust === 'never') return [];
  const [folder] = await spellingsOf(project_dir!);
  const folders = withParents(folder!);
  if (folders.some((place) => typeof trust[place] === 'boolean')) return [];
  const resources = [
    ...TRUSTED_RESOURCES.map((name) => join(folder!, '.pi', name)),
    ...folders.filter((place) => place !== home).map((place) => join(place, '.agents', 'skills')),
  ];
  const found = (await Promise.all(resources.map(exists))).includes(true);
  if (!found) return [];
  return [
    {
      severity: 'error',
      what: `${project_dir} has its own Pi settings or skills, and Pi would ask whether to trust it`,
      mend: `run "pi" once in ${project_dir} and answer, or add "--no-approve" to "args" of ${agent.id} in agents.json`,
    },
  ];
}

/** Names of variables that may contain a provider's key. */
const KEY_VARIABLE = /_(API_KEY|AUTH_TOKEN|OAUTH_TOKEN)$/;

/** A finding where it has no model to use. */
function checkModels(
  models: Table,
  login: Table,
  { agent }: FirstRunQuery,
  env: NodeJS.ProcessEnv,
): HarnessFinding[] {
  const configured = [models.providers, login].some((table) => Object.keys(asTable(table)).length > 0);
  const keyed = Object.entries({ ...env, ...agent.env }).some(
    ([name, value]) => KEY_VARIABLE.test(name) && value !== undefined && value !== '',
  );
  if (configured || keyed || agent.args.includes('--api-key')) return [];
  return [
    {
      severity: 'warning',
      what: 'Pi has no model to use: no login, no configured provider and no provider key in its environment',
      mend: 'run "pi" once as this user and log in, or set a provider key for the daemon',
    },
  ];
}

async function exists(path: string): Promise<boolean> {
  return statForeign(path).then(
    () => true,
    () => false,
  );
}

/** Pi works with any login, configured provider or provider key. */
export async function signIn(
  agent: Agent,
  environment: HarnessEnvironment,
  { env }: ProcessFacts,
): Promise<SignIn> {
  const [models, login] = await Promise.all([
    readJsonConfig(join(environment.folder, 'models.json')),
    readJsonConfig(join(environment.folder, 'auth.json')),
  ]);
  for (const { broken } of [models, login])
    if (broken !== null) return { signed_in: null, mend: broken.mend };
  const [missing] = checkModels(models.value, login.value, { agent, project_dir: null }, env);
  return { signed_in: missing === undefined, mend: missing?.mend ?? null };
}
