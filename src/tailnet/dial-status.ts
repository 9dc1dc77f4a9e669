import { messageOf } from '../base/errors.ts';
import type { TailnetDial } from '../contract/http/version.ts';
import type { RemoteAddress } from '../contract/remote-address.ts';
import type { TailnetNetwork } from '../contract/threads/fleet.ts';
import { isTailnetAddress } from './tailnet-status.ts';

/**
 * How the way into the tailnet and out of it is (OPR-3): `ready` where it is listened to there and nothing failed since the
 * last request that went well; `unbound` where it is not listened to yet; `error` where the last request over it failed.
 */
export function dialStatus(
  dial: TailnetDial,
  /** Null where it is not to be listened to. */
  listener: { address: string | null; error: string | null } | null,
  failure: string | null,
): TailnetDial {
  if (dial.status !== 'available') return dial;
  if (failure !== null) return { ...dial, status: 'error', error: failure };
  if (listener === null) return dial;
  if (listener.address === null) return { ...dial, status: 'unbound', error: listener.error };
  return { ...dial, status: 'ready' };
}

/** Whether an address leads over the tailnet. */
export function isInTailnet(address: RemoteAddress, network: TailnetNetwork | null): boolean {
  const host = 'url' in address ? URL.parse(address.url)?.hostname : undefined;
  if (host === undefined) return false;
  const suffix = network?.self.dns_name.split('.').slice(1).join('.') ?? '';
  return isTailnetAddress(host.replace(/^\[|\]$/g, '')) || (suffix !== '' && host.endsWith(`.${suffix}`));
}

/** The last failure of a request over the tailnet; one that goes well later takes it back (OPR-3). */
export class DialRecord {
  readonly #changed: () => void;
  #failure: string | null = null;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  failure(): string | null {
    return this.#failure;
  }

  note(error: unknown): void {
    const failure = error === null ? null : messageOf(error);
    if (failure === this.#failure) return;
    this.#failure = failure;
    this.#changed();
  }
}
