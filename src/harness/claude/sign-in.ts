import { join } from 'node:path';
import type { SignIn } from '../../contract/http/doctor.ts';
import type { HarnessEnvironment } from '../agent-environment.ts';
import { readJsonConfig } from '../own-config.ts';
import { asTable } from '../table.ts';
import { claudeStateFile } from './first-run.ts';

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
