import { CodedError } from '../../base/errors.ts';
import type { Memory } from '../memory.ts';
import type { Refusal } from '../refusals.ts';
import type { Authority } from '../run/run-id.ts';

/** What a launch is told while the emergency brake is on; null when it may go on. It is no fault of the fiber. */
export function refuseWhileStopped(memory: Pick<Memory, 'brake'>, authority: Authority): Refusal | null {
  const { pulled } = memory.brake;
  if (pulled === null || (authority.kind === 'request' && authority.despite_brake === true)) return null;
  const why = pulled.note === null ? '' : ` (${pulled.note})`;
  return {
    reason: 'stopped_all',
    message: `the emergency brake is on${why}: nothing new is started; let it go with \`svc resume-all\`, or start this one all the same with \`svc dispatch --despite-brake\``,
  };
}

/** For what starts an agent without a fiber; throws `stopped_all`. */
export function requireNotStopped(memory: Pick<Memory, 'brake'>): void {
  const { pulled } = memory.brake;
  if (pulled === null) return;
  const why = pulled.note === null ? '' : ` (${pulled.note})`;
  throw new CodedError(
    'stopped_all',
    `the emergency brake is on${why}: nothing new is started; let it go with \`svc resume-all\``,
  );
}
