import type { RemoteAddress } from '../contract/remote-address.ts';
import type { TailnetNetwork } from '../contract/threads/fleet.ts';
import { isInTailnet } from './dial-status.ts';

/**
 * How this machine reaches an address: one of the tailnet through tailscaled, where that is the only one with a way into
 * it. A connection with TLS is none of these: its name would have to be proved by a certificate that no daemon has there.
 */
export function dialledAddress(address: RemoteAddress, network: TailnetNetwork | null): RemoteAddress {
  if (network === null || network.has_interface || !('url' in address)) return address;
  if (URL.parse(address.url)?.protocol !== 'http:' || !isInTailnet(address, network)) return address;
  return { ...address, dial: network.socket };
}
