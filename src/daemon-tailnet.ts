import type { Clock } from './base/clock.ts';
import type { Logger } from './base/logger.ts';
import type { Settings } from './config/settings.ts';
import type { TailnetView } from './contract/http/version.ts';
import type { RemoteAddress } from './contract/remote-address.ts';
import type { HttpServer, PrivateListening } from './http/server.ts';
import { DialRecord, dialStatus, isInTailnet } from './tailnet/dial-status.ts';
import { PrivateListener } from './tailnet/private-listener.ts';
import { type TailnetKnown, tailnetBefore } from './tailnet/tailnet.ts';
import { whoisLookup } from './tailnet/whois.ts';

/** What the main thread has of the tailnet: the listener that other machines reach, and how requests to them went. */
export type TailnetSide = {
  /** What `GET /version` tells of it. */
  view(): TailnetView;
  /** What is listened to there. */
  addresses(): string[];
  /** Takes what the fleet thread has seen. */
  follow(known: TailnetKnown): void;
  /** Takes how a request went that was passed on; null where an answer began. */
  observe(address: RemoteAddress, failure: unknown): void;
  stop(): Promise<void>;
};

/** `changed` is called whenever `view` or `addresses` answer something else. */
export function createTailnetSide(options: {
  settings: Pick<Settings, 'discovery' | 'tailnet_listen' | 'tailnet_port'>;
  host_class: 'personal' | 'exposed';
  bind: (place: Parameters<HttpServer['listenPrivately']>[0]) => Promise<PrivateListening>;
  clock: Clock;
  logger: Logger;
  changed(): void;
}): TailnetSide {
  const { settings, host_class, bind, clock, logger, changed } = options;
  const wanted = settings.tailnet_listen === 'on';
  let known: TailnetKnown = {
    view: tailnetBefore({ enabled: settings.discovery === 'auto', listens: wanted }),
    network: null,
  };
  const lookup = whoisLookup(() => known.network);
  const record = new DialRecord(changed);
  const listener = new PrivateListener({
    port: settings.tailnet_port,
    bind: (place) => bind({ ...place, lookup }),
    ...{ clock, logger, changed },
  });
  // An exposed host listens on no TCP at all: others may be at its addresses.
  const listens = wanted && host_class !== 'exposed';
  const refused = 'this host is exposed, so it listens on no TCP; set SVC_TAILNET_LISTEN=off';
  return {
    view() {
      const { tailnet_dial, discovery } = known.view;
      const state = listens ? listener.state() : wanted ? { address: null, error: refused } : null;
      return { tailnet_dial: dialStatus(tailnet_dial, state, record.failure()), discovery };
    },
    addresses() {
      const { address } = listener.state();
      return address === null ? [] : [address];
    },
    follow(now) {
      known = now;
      if (listens) listener.follow(now.network);
      changed();
    },
    observe(address, failure) {
      if (isInTailnet(address, known.network)) record.note(failure);
    },
    stop: () => listener.stop(),
  };
}
