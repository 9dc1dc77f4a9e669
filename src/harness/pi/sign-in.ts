import { join } from 'node:path';
import type { Agent } from '../../contract/agent.ts';
import type { SignIn } from '../../contract/http/doctor.ts';
import type { HarnessEnvironment } from '../agent-environment.ts';
import type { ProcessFacts } from '../harness.ts';
import { readJsonConfig } from '../own-config.ts';
import { checkModels } from './first-run.ts';

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
