import { BlockList, isIP } from 'node:net';
import { z } from 'zod';

/** Longer than any name that DNS knows. */
const name = z.string().max(255);
const nodeSchema = z.object({
  ID: z.union([z.string().max(100), z.number()]).transform(String),
  HostName: name.default(''),
  DNSName: name.default(''),
  UserID: z.number(),
  TailscaleIPs: z.array(z.string()).nullish(),
  Tags: z.array(z.string()).nullish(),
  Online: z.boolean().default(false),
  ShareeNode: z.boolean().default(false),
  Expired: z.boolean().default(false),
});
const statusSchema = z.object({
  BackendState: z.string(),
  /** False where it has no network interface; older builds do not say. */
  TUN: z.boolean().default(true),
  Self: z.unknown(),
  Peer: z.record(z.string(), z.unknown()).nullish(),
});

/** A machine of the private network. */
export type TailnetNode = {
  id: string;
  /** What the machine calls itself; several may have the same. */
  host_name: string;
  /** Without the final dot; empty where it has none. */
  dns_name: string;
  user_id: number;
  /** In the ranges of the private network, IPv4 first. */
  addresses: string[];
  is_tagged: boolean;
  online: boolean;
  is_sharee: boolean;
  expired: boolean;
};

/** The private network as its program sees it. */
export type TailnetStatus = {
  /** False where this machine has no network interface of it, so that only the program can connect. */
  has_interface: boolean;
  self: TailnetNode;
  peers: TailnetNode[];
};

/** The addresses that are given to machines; what lies outside is another network, whatever the program says. */
const RANGES = new BlockList();
RANGES.addSubnet('100.64.0.0', 10, 'ipv4');
RANGES.addSubnet('fd7a:115c:a1e0::', 48, 'ipv6');

/** Whether an address is one of the private network. */
export function isTailnetAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && RANGES.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

/**
 * Reads the status document of tailscaled. Throws an `Error` with a sentence where this machine is not in the private
 * network now, or the document is none. A peer that is not well-formed is left out.
 */
export function parseStatus(document: unknown): TailnetStatus {
  const status = statusSchema.safeParse(document).data;
  if (status === undefined) throw new Error('the status of tailscaled does not have the expected form');
  if (status.BackendState !== 'Running')
    throw new Error(`tailscaled is in state ${status.BackendState.slice(0, 40)}; run: tailscale up`);
  const self = nodeOf(status.Self);
  if (self === null) throw new Error('the status of tailscaled does not say which machine this is');
  const peers = Object.values(status.Peer ?? {}).flatMap((peer) => nodeOf(peer) ?? []);
  return { has_interface: status.TUN, self, peers };
}

function nodeOf(value: unknown): TailnetNode | null {
  const node = nodeSchema.safeParse(value).data;
  if (node === undefined) return null;
  return {
    id: node.ID,
    host_name: node.HostName,
    dns_name: node.DNSName.replace(/\.$/, ''),
    user_id: node.UserID,
    addresses: (node.TailscaleIPs ?? []).filter(isTailnetAddress).sort((a, b) => isIP(a) - isIP(b)),
    is_tagged: (node.Tags ?? []).length > 0,
    online: node.Online,
    is_sharee: node.ShareeNode,
    expired: node.Expired,
  };
}
