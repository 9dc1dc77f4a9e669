import { z } from 'zod';

/**
 * Where the API of another host answers: a Unix socket of this machine, or a URL without `/api/v1`. `dial` is the socket of
 * the tailscaled that makes the connections to that URL, where this machine cannot.
 */
export const remoteAddressSchema = z.union([
  z.object({ socket: z.string() }),
  z.object({ url: z.string(), dial: z.string().optional() }),
]);
export type RemoteAddress = z.infer<typeof remoteAddressSchema>;

/** Why a remote cannot be asked whose entry leads nowhere, with the fix. */
export function addressFault(
  name: string,
  problem: string | null,
): { code: 'invalid_config'; message: string } {
  return {
    code: 'invalid_config',
    message: `${problem}; fix it with: svc remotes add ${name} --socket <path>`,
  };
}

/** An address as a person reads it: without what may be secret in a URL. */
export function placeOf(address: RemoteAddress): string {
  return 'socket' in address ? address.socket : new URL(address.url).host;
}
