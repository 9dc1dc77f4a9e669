import { CodedError } from '../../base/errors.ts';
import { shellWord } from '../../base/shell-word.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import type { Authority } from '../run/run-id.ts';
import { mendOfLease, refusalOfLease } from '../stores/store-leases.ts';
import type { Memory } from './memory.ts';
import type { Refusal } from './refusals.ts';

type Guards = Pick<Memory, 'brake' | 'data_dir' | 'leases'>;

/**
 * What keeps this daemon from starting anything of a store, whatever is asked for: the emergency brake, a data folder
 * that was taken away, the lease of another daemon. Null when it may go on; it is no fault of the fiber. `look` looks
 * at the files again, and takes a lease that is free.
 */
export function refuseStart(
  memory: Guards,
  { id, store }: Pick<FiberDocument, 'id' | 'store'>,
  authority: Authority,
  options: { look: boolean },
): Refusal | null {
  return refuseWhileStopped(memory, id, authority) ?? refuseHere(memory, store, options);
}

/** For what starts an agent without a fiber; throws `stopped_all`, `data_dir_lost` or `store_leased`. */
export function requireMayStart(memory: Guards, store: string | null, options: { look: boolean }): void {
  const refusal = refuseByBrake(memory, '') ?? refuseHere(memory, store, options);
  if (refusal !== null) throw new CodedError(refusal.reason, refusal.message);
}

function refuseWhileStopped(memory: Pick<Memory, 'brake'>, id: string, authority: Authority): Refusal | null {
  if (authority.kind === 'request' && authority.despite_brake === true) return null;
  return refuseByBrake(
    memory,
    `, or start this one anyway with \`svc dispatch ${shellWord(id)} --despite-brake\``,
  );
}

function refuseByBrake({ brake }: Pick<Memory, 'brake'>, otherwise: string): Refusal | null {
  const { pulled } = brake;
  if (pulled === null) return null;
  const why = pulled.note === null ? '' : ` (${pulled.note})`;
  return {
    reason: 'stopped_all',
    message: `the emergency brake is on${why}: nothing new is started; release it with \`svc resume-all\`${otherwise}`,
  };
}

function refuseHere(
  { data_dir, leases }: Guards,
  store: string | null,
  { look }: { look: boolean },
): Refusal | null {
  const fault = look ? data_dir.look() : data_dir.fault;
  if (fault !== null) return { reason: 'data_dir_lost', message: fault };
  if (store === null) return null;
  const lease = look ? leases.confirm(store) : leases.of(store);
  const message = refusalOfLease(store, lease);
  return message === null ? null : { reason: 'store_leased', message: `${message}; ${mendOfLease(lease)}` };
}
