import { z } from 'zod';
import type { TailnetNetwork } from '../contract/threads/fleet.ts';
import type { PeerLookup } from '../platform/peer-credentials-lsof.ts';
import type { PeerVerdict } from '../platform/peer-verdict.ts';
import { askWhois } from './local-api.ts';

const idSchema = z.union([z.string(), z.number()]).transform(String);
const whoisSchema = z.object({
  Node: z.object({
    ID: idSchema,
    StableID: idSchema.nullish(),
    Tags: z.array(z.string()).nullish(),
    Name: z.string().default(''),
  }),
  UserProfile: z.object({ ID: z.number() }),
});

const OWN_PROGRAM = 'a program of this machine has to use the loopback address';
/** Questions about peers that tailscaled has to answer at one time. */
const AT_ONCE = 16;

/**
 * Whether the machine at the other end of a connection is another one of the user of this machine; `document` is what
 * tailscaled answers to `whois`, null where it knows nobody at that address.
 */
export function judgeWhois(document: unknown, self: TailnetNetwork['self']): PeerVerdict {
  if (document === null) return refuse('tailscaled knows no machine at its address');
  const whois = whoisSchema.safeParse(document).data;
  if (whois === undefined) return refuse('tailscaled gave no usable answer');
  const { Node: node, UserProfile: user } = whois;
  if (self.is_tagged || (node.Tags ?? []).length > 0) return refuse('a tagged machine belongs to no user');
  if (user.ID !== self.user_id) return refuse('its machine belongs to another user of the tailnet');
  // Any account of this machine can dial its own address, which the other listeners tell apart.
  if ([node.ID, node.StableID].includes(self.id) || node.Name.replace(/\.$/, '') === self.dns_name)
    return refuse(OWN_PROGRAM);
  return { kind: 'own_uid' };
}

/** Looks up the machines of peers; `network` is the tailnet as it is known now, null where it is not. */
export function whoisLookup(
  network: () => TailnetNetwork | null,
  ask: (socket: string, address: string) => Promise<unknown> = askWhois,
): Pick<PeerLookup, 'lookUp'> {
  const judge = async (remote: string): Promise<PeerVerdict> => {
    const now = network();
    if (now === null) return refuse('tailscaled does not answer');
    // Some answers to whois name this machine otherwise than its status does.
    if (now.self.addresses.includes(addressOf(remote))) return refuse(OWN_PROGRAM);
    try {
      return judgeWhois(await ask(now.socket, remote), now.self);
    } catch {
      return refuse('tailscaled gave no usable answer');
    }
  };
  return {
    async lookUp(connections) {
      const verdicts: PeerVerdict[] = [];
      const left = connections.entries();
      const work = async () => {
        for (const [at, { remote }] of left) verdicts[at] = await judge(remote);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      return verdicts;
    },
  };
}

/** Of `address:port`. */
function addressOf(remote: string): string {
  return remote.slice(0, remote.lastIndexOf(':')).replace(/^\[|\]$/g, '');
}

function refuse(why: string): PeerVerdict {
  return { kind: 'unresolved', reason: `peer of the tailnet refused: ${why}` };
}
