import { join } from 'node:path';
import type { SignIn } from '../../contract/http/doctor.ts';
import { statForeign } from '../../platform/foreign-paths.ts';
import { withParents } from '../../platform/git-folder.ts';
import type { HarnessFinding } from '../adapter.ts';
import type { AgentEnvironment, HarnessEnvironment } from '../agent-environment.ts';
import { checkExecutable, gitRoot } from '../first-run.ts';
import type { FirstRunQuery, ProcessFacts } from '../harness.ts';
import { optionValue } from '../option-value.ts';
import { readJsonConfig } from '../own-config.ts';
import { asTable, type Table } from '../table.ts';
import { spellingsOf } from '../transcripts/transcript-files.ts';

/** What would block an unattended start of Claude Code: each first-run dialog that is still unanswered. */
export async function checkFirstRun(
  query: FirstRunQuery,
  environment: HarnessEnvironment,
  { uid }: ProcessFacts,
): Promise<HarnessFinding[]> {
  const stateFile = await claudeStateFile(environment);
  const state = await readJsonConfig(stateFile);
  const settings = await readJsonConfig(join(environment.folder, 'settings.json'));
  const findings = await checkExecutable(query, environment);
  for (const { broken } of [state, settings]) if (broken !== null) findings.push(broken);
  if (state.broken !== null) return findings;
  findings.push(...checkOnboarding(state.value, environment));
  findings.push(...checkApiKey(state.value, environment));
  if (query.project_dir !== null)
    findings.push(...(await checkTrust(state.value, query.project_dir, environment)));
  findings.push(...checkPermissions(query, state.value, settings.value, environment, uid));
  return findings;
}

/** The program's state file: beside the home folder, or in its config folder in an older layout. */
async function claudeStateFile({ get, home, folder }: HarnessEnvironment): Promise<string> {
  const older = join(folder, '.config.json');
  const hasOlder = await statForeign(older).then(
    () => true,
    () => false,
  );
  return hasOlder ? older : join(get('CLAUDE_CONFIG_DIR') ?? home, '.claude.json');
}

function checkOnboarding(state: Table, { home }: AgentEnvironment): HarnessFinding[] {
  if (state.hasCompletedOnboarding === true) return [];
  return [
    {
      severity: 'error',
      what: `Claude Code has not been set up for the home ${home}; it would ask for a theme and a login`,
      mend: 'run "claude" once in a terminal as this user and answer its questions',
    },
  ];
}

const KEY_TAIL_LENGTH = 20;

function checkApiKey(state: Table, environment: AgentEnvironment): HarnessFinding[] {
  const key = environment.get('ANTHROPIC_API_KEY');
  if (key === undefined) return [];
  const { approved } = asTable(state.customApiKeyResponses);
  if (Array.isArray(approved) && approved.includes(key.slice(-KEY_TAIL_LENGTH))) return [];
  return [
    {
      severity: 'error',
      what: 'ANTHROPIC_API_KEY is set, and Claude Code would ask whether it may use this key',
      mend: 'run "claude" once with this key and answer "Yes", or unset the variable for the daemon',
    },
  ];
}

async function checkTrust(
  state: Table,
  project_dir: string,
  environment: AgentEnvironment,
): Promise<HarnessFinding[]> {
  if (environment.get('CLAUDE_CODE_SANDBOXED') === '1') return [];
  const projects = asTable(state.projects);
  const folders: string[] = [];
  for (const folder of await spellingsOf(project_dir)) {
    // A linked work tree is trusted with its repository.
    const root = await gitRoot(folder);
    folders.push(...withParents(folder), ...(root === null ? [] : [root]));
  }
  if (folders.some((folder) => asTable(projects[folder]).hasTrustDialogAccepted === true)) return [];
  return [
    {
      severity: 'error',
      what: `Claude Code does not trust ${project_dir} yet and would ask`,
      mend: `run "claude" once in ${project_dir}, or in a folder above it, and trust the folder`,
    },
  ];
}

function checkPermissions(
  { agent }: FirstRunQuery,
  state: Table,
  settings: Table,
  environment: AgentEnvironment,
  uid: number | null,
): HarnessFinding[] {
  const asked = optionValue(agent.args, '--permission-mode') ?? asTable(settings.permissions).defaultMode;
  const bypass = agent.args.includes('--dangerously-skip-permissions') || asked === 'bypassPermissions';
  if (!bypass) {
    if (asked === 'auto' || asked === 'dontAsk') return [];
    return [
      {
        severity: 'warning',
        what: `agent ${agent.id} asks a person before it runs commands, so an unattended worker would wait for ever`,
        mend: `add "--permission-mode", "auto" to "args" of ${agent.id} in agents.json`,
      },
    ];
  }
  const findings: HarnessFinding[] = [];
  if (uid === 0 && environment.get('IS_SANDBOX') !== '1') {
    findings.push({
      severity: 'error',
      what: `agent ${agent.id} bypasses permissions, and Claude Code refuses that as root`,
      mend: `run the daemon as another user, or use "--permission-mode", "auto" in "args" of ${agent.id}`,
    });
  }
  if (settings.skipDangerousModePermissionPrompt !== true && state.bypassPermissionsModeAccepted !== true) {
    findings.push({
      severity: 'error',
      what: `agent ${agent.id} bypasses permissions, and Claude Code's warning about that has not been accepted`,
      mend: 'run "claude --dangerously-skip-permissions" once in a terminal and accept the warning',
    });
  }
  return findings;
}

/** Each names an account, or a service that has accounts of its own. */
const VARIABLES = [
  ...['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
  ...['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY'],
];
const MEND = 'run "claude" once in a terminal as this user and log in';

/** A login leaves its account in the state file, and on Linux its tokens beside the settings. */
export async function signIn(_agent: unknown, environment: HarnessEnvironment): Promise<SignIn> {
  const [state, settings, credentials] = await Promise.all([
    claudeStateFile(environment).then(readJsonConfig),
    readJsonConfig(join(environment.folder, 'settings.json')),
    readJsonConfig(join(environment.folder, '.credentials.json')),
  ]);
  const { oauthAccount, primaryApiKey, hasCompletedOnboarding } = state.value;
  const of_settings = asTable(settings.value.env);
  const known =
    VARIABLES.some((name) => environment.get(name) !== undefined || of_settings[name] !== undefined) ||
    settings.value.apiKeyHelper !== undefined ||
    [oauthAccount, primaryApiKey].some((value) => value !== undefined && value !== null) ||
    Object.keys(credentials.value).length > 0;
  if (known) return { signed_in: true, mend: null };
  // Once it was set up, its account may be where only the program itself looks, such as a keychain.
  return { signed_in: hasCompletedOnboarding === true ? null : false, mend: MEND };
}
