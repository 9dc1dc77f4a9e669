import { type AgentEnvironment, expandHome, folderNamed } from '../agent-environment.ts';

/** The folder of Pi's settings, login, extensions and sessions. */
export function piFolder(environment: AgentEnvironment): string {
  return expandHome(folderNamed(environment, 'PI_CODING_AGENT_DIR', '.pi/agent'), environment);
}
