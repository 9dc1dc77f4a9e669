import { z } from 'zod';
import { systemCode } from '../base/errors.ts';
import type { Discovery } from '../contract/http/version.ts';
import { remoteNameSchema } from '../contract/operator-files.ts';
import type { HttpBytes } from '../platform/http-client.ts';
import type { TailnetNode, TailnetStatus } from './tailnet-status.ts';

/** Machines that are asked in one run; what is told of them must fit into an answer that other hosts still read. */
export const MOST_NODES = 100;
/** That are asked at one time. */
const AT_ONCE = 16;

const short = z.string().max(200);
/** What of `GET /version` says that a daemon of this kind answers. */
const versionSchema = z.object({
  ...{ git_short_sha: short, host: remoteNameSchema.max(100), booted_at: short },
  version: short.default(''),
  ready: z.boolean().default(false),
  host_class: z.enum(['personal', 'exposed']).nullable().default(null),
});

/** A machine whose daemon is asked for. */
export type AskedNode = { name: string; dns_name: string; address: string };
/** A daemon that was found, and what it said of itself. */
export type FoundDaemon = { node: AskedNode; told: z.output<typeof versionSchema> };
/** Where the daemon of a machine would answer. */
export const urlOf = ({ address }: Pick<AskedNode, 'address'>, port: number): string =>
  `http://${address.includes(':') ? `[${address}]` : address}:${port}`;

/**
 * The machines that may have a daemon of this user, by their names: those of the same user that are there now, not those
 * that somebody shares, whose key has expired, or that belong to the network instead of a user.
 */
export function nodesToAsk({ self, peers }: TailnetStatus): AskedNode[] {
  if (self.is_tagged)
    throw new Error(
      'this machine is tagged, so it belongs to no user and no other machine is of the same user',
    );
  return peers
    .filter((peer) => isOfSameUser(peer, self) && peer.online && !peer.expired)
    .flatMap(({ addresses: [address], host_name, dns_name }) =>
      address === undefined ? [] : [{ name: nameOf(dns_name, host_name), dns_name, address }],
    )
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.address < b.address ? -1 : 1));
}

/** Whether a machine is of the user of this one. Tagged ones share one number that is no user's. */
function isOfSameUser(node: TailnetNode, self: TailnetNode): boolean {
  return node.user_id === self.user_id && !node.is_tagged && !self.is_tagged && !node.is_sharee;
}

/** Host names repeat; the first part of a DNS name is of one machine. */
function nameOf(dns_name: string, host_name: string): string {
  return dns_name.split('.')[0] || host_name;
}

/** Why what a machine answered is no version of a daemon, or what it told. */
export function judgeAnswer({
  status,
  body,
}: Pick<HttpBytes, 'status' | 'body'>): FoundDaemon['told'] | string {
  if (status !== 200) return `status_${status}`;
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    return 'not_json';
  }
  return versionSchema.safeParse(value).data ?? 'not_svc';
}

/** Why a machine gave no answer. */
function judgeFailure(error: unknown): string {
  const cause = error instanceof Error ? error.cause : null;
  if (cause instanceof Error && cause.name === 'AbortError') return 'timeout';
  const code = systemCode(cause);
  if (code === 'ETIMEDOUT') return 'timeout';
  if (error instanceof Error && error.message === 'its answer is too large') return 'not_svc';
  return 'refused';
}

/**
 * Asks machines for their daemons, so many at one time. `ask` resolves to what a machine answered. Two machines that name
 * one host are told apart by nothing here, so only the first counts.
 */
export async function askNodes(options: {
  /** This host. */
  host: string;
  nodes: readonly AskedNode[];
  ask(node: AskedNode): Promise<Pick<HttpBytes, 'status' | 'body'>>;
}): Promise<{ found: FoundDaemon[]; rejected: Discovery['rejected'] }> {
  const { host, nodes, ask } = options;
  const answers: (FoundDaemon['told'] | string)[] = [];
  const left = nodes.entries();
  const work = async () => {
    for (const [at, node] of left) answers[at] = await ask(node).then(judgeAnswer, judgeFailure);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const found: FoundDaemon[] = [];
  const rejected: Discovery['rejected'] = [];
  const names = new Set([host]);
  for (const [at, node] of nodes.entries()) {
    const told = answers[at]!;
    if (typeof told === 'string') rejected.push({ name: node.name, reason: told });
    else if (names.has(told.host))
      rejected.push({ name: node.name, reason: told.host === host ? 'same_host' : 'duplicate_host' });
    else {
      names.add(told.host);
      found.push({ node, told });
    }
  }
  return { found, rejected };
}
