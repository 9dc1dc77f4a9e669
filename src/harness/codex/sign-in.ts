import { join } from 'node:path';
import type { Agent } from '../../contract/agent.ts';
import type { SignIn } from '../../contract/http/doctor.ts';
import type { HarnessEnvironment } from '../agent-environment.ts';
import { readTomlConfig } from '../own-config.ts';
import { checkLogin, commandLineConfig } from './first-run.ts';

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
