import { lstat, unlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { CodedError, systemCode } from '../base/errors.ts';

/**
 * Makes the path of a Unix socket free to bind. The library would delete whatever lies there, even a live
 * socket or a regular file, so: absent is fine, a dead socket of our own is removed, anything else is refused.
 * Throws `address_in_use` when somebody answers, `invalid_config` for what is not ours to remove.
 */
export async function freeSocketPath(path: string): Promise<void> {
  const entry = await lstat(path).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return null;
    throw new CodedError('invalid_config', `cannot look at ${path}; choose another socket path`, {
      cause: error,
    });
  });
  if (entry === null) return;
  if (!entry.isSocket() || entry.uid !== process.getuid?.()) {
    throw new CodedError(
      'invalid_config',
      `${path} is not a socket of this user; remove it or choose another path`,
    );
  }
  if (await isAnswered(path)) {
    throw new CodedError(
      'address_in_use',
      `another process answers on ${path}; stop it or choose another path`,
    );
  }
  await unlink(path).catch((error: unknown) => {
    if (systemCode(error) !== 'ENOENT') throw error;
  });
}

/** True unless the kernel says that nobody listens: only a refusal proves a socket dead. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => resolve(!['ECONNREFUSED', 'ENOENT'].includes(systemCode(error) ?? '')));
  });
}
