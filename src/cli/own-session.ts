import { HARNESS_NAMES } from '../contract/harness-name.ts';
import type { SessionAddress } from '../contract/session-address.ts';
import { HARNESSES } from '../harness/harnesses.ts';
import type { CliContext } from './command-line/verb.ts';
import { thisHost } from './find-fiber.ts';

/** The session of the agent that runs the command; null where its program does not tell, and outside a session. */
export function ownSession(context: CliContext): SessionAddress | null {
  for (const harness of HARNESS_NAMES) {
    const variable = HARNESSES[harness].session_variable;
    const native_id = variable === null ? undefined : context.env[variable];
    if (native_id !== undefined && native_id !== '') return { host: thisHost(context), harness, native_id };
  }
  return null;
}
