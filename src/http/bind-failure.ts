import { createServer } from 'node:net';
import { CodedError, systemCode } from '../base/errors.ts';
import { findPortHolder } from '../platform/port-holder.ts';
import { formatTcpAddress } from './listen-address.ts';

/**
 * Why a TCP address could not be bound. The library only says that it failed, so the same bind is tried once
 * more by Node, which gives the kernel's reason. Null when that works: whoever held it has let go.
 */
export async function explainBindFailure(host: string, port: number): Promise<CodedError | null> {
  const reason = await tryBind(host, port);
  if (reason === null) return null;
  const address = formatTcpAddress(host, port);
  if (reason === 'EADDRINUSE') {
    const holder = await findPortHolder(port);
    const who = holder === null ? 'another process' : `pid ${holder.pid} (${holder.command})`;
    return new CodedError(
      'address_in_use',
      `${address} is held by ${who}; stop it or set SVC_LISTEN to another port`,
      {
        details: { address, pid: holder?.pid ?? null, command: holder?.command ?? null },
      },
    );
  }
  const mend =
    reason === 'EACCES' ? 'use a port of 1024 or above' : 'set SVC_LISTEN to an address of this machine';
  return new CodedError('invalid_config', `cannot listen on ${address} (${reason}); ${mend}`);
}

function tryBind(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(systemCode(error) ?? 'unknown reason'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
