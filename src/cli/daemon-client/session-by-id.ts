import { CodedError } from '../../base/errors.ts';
import { peersSchema } from '../../contract/http/peers.ts';
import { parseAddress } from '../../contract/session-address.ts';
import type { DaemonClient } from './client.ts';

/**
 * The address of the running session with that id, on any host or on `only`; null where none has it, or the daemon does
 * not tell. Throws `invalid_address` where several have it.
 */
export async function addressOfSession(
  daemon: DaemonClient,
  native_id: string,
  only?: string,
): Promise<string | null> {
  const peers = await daemon.get('/peers', peersSchema).catch(() => null);
  const found = (peers?.sessions ?? [])
    .map(({ address }) => ({ address, ...parseAddress(address) }))
    .filter((one) => one.native_id === native_id && (only === undefined || one.host === only));
  if (found.length > 1)
    throw new CodedError(
      'invalid_address',
      `several sessions have the id ${native_id}: ${found.map(({ address }) => address).join(', ')}; name one by its address`,
    );
  return found[0]?.address ?? null;
}
