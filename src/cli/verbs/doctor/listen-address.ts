import { createServer } from 'node:net';
import { systemCode } from '../../../base/errors.ts';
import { findPortHolder } from '../../../platform/port-holder.ts';
import { parseAddress } from '../../daemon-client/client.ts';
import { type Check, type Finding, fail, ok } from './check.ts';

/** Whether the daemon could bind its address, if it does not run. */
export const checkListenAddress: Check = async ({ settings, daemon }) => {
  if (daemon.kind === 'running') return [];
  // Port 0 requests any free port.
  if (/:0$/.test(settings.listen)) return [ok('address', `${settings.listen}: any free port`)];
  const address = parseAddress(settings.listen);
  if (address === null)
    return [fail('address', `SVC_LISTEN is "${settings.listen}"`, 'set it to host:port or unix:/path')];
  if ('socketPath' in address) return [ok('address', settings.listen)];
  return [await tcp(address.host, address.port)];
};

async function tcp(host: string, port: number): Promise<Finding> {
  const name = `${host}:${port}`;
  const refused = await tryToListen(host, port);
  if (refused === null) return ok('address', `${name} is free`);
  if (refused !== 'EADDRINUSE')
    return fail('address', `${name} cannot be bound (${refused})`, 'set SVC_LISTEN to another address');
  const holder = await findPortHolder(port);
  const who = holder === null ? 'another program' : `pid ${holder.pid} (${holder.command})`;
  return fail('address', `${name} is taken by ${who}`, 'end that program, or set SVC_LISTEN to another port');
}

function tryToListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(systemCode(error) ?? 'unknown error'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
