import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { AccessPolicy } from './access/decide-access.ts';
import type { Clock } from './base/clock.ts';
import { systemCode } from './base/errors.ts';
import type { Logger } from './base/logger.ts';
import { createHttpServer } from './http/server.ts';
import type { AudioRelay } from './meetings/audio-relay.ts';
import { serverAt } from './platform/own-socket.ts';
import { meetingAudioRow, type PhoneRelay } from './routes/meeting-audio.ts';

export type AudioListenerOptions = {
  /** Path of its Unix socket; its folder is made in the data folder, which is open to this user alone. */
  socket: string;
  host: string;
  access: AccessPolicy;
  relay: Pick<AudioRelay, 'listener'>;
  clock: Clock;
  logger: Logger;
};

/** Between two tries to open the socket, in milliseconds. */
const RETRY_MS = 5_000;
/**
 * How long phones may take to answer that the daemon stops, in milliseconds. It comes on top of what the main thread has
 * waited for its own.
 */
const FAREWELL_MS = 1_000;

/**
 * Serves `GET /meeting/audio`, and nothing else, on a Unix socket of the thread that passes the audio on: frames over it
 * do not wait for the main thread. Where it cannot be opened, the log says so once, audio comes through the main thread,
 * and it is tried again: a thread that was given up may still have it. Answers what closes it.
 */
export function openAudioListener(options: AudioListenerOptions): () => Promise<void> {
  const { socket, host, access, relay, clock, logger } = options;
  const server = createHttpServer({
    ...{ host, access, clock, logger },
    routes: [meetingAudioRow(ownRelay(relay), clock)],
    booting: () => null,
    route: () => ({ kind: 'local' }),
    // A thread that is ended while the native server has connections in it takes the whole process with it.
    http: 'node',
    limits: { drain_ms: FAREWELL_MS },
  });
  let cancel = () => {};
  let is_told = false;
  let is_over = false;
  const open = async (): Promise<void> => {
    try {
      await mkdir(dirname(socket), { mode: 0o700 }).catch((error: unknown) => {
        if (systemCode(error) !== 'EEXIST') throw error;
      });
      await serverAt({ socket });
      if (is_over) return;
      await server.listen(`unix:${socket}`);
      if (is_told) logger.info({ socket }, 'the socket for audio alone is open now');
    } catch (err) {
      if (!is_told)
        logger.warn(
          { err, socket },
          'no socket for audio alone; the audio of phones comes through the main thread',
        );
      is_told = true;
      if (!is_over) {
        cancel = clock.after(RETRY_MS, () => {
          opening = open();
        });
      }
    }
  };
  let opening = open();
  return async () => {
    is_over = true;
    cancel();
    // What it opens after the server has stopped, nothing would close.
    await opening;
    await server.stop();
  };
}

/** The relay of this thread as the route sees it. */
function ownRelay(relay: Pick<AudioRelay, 'listener'>): PhoneRelay {
  let hear: Parameters<PhoneRelay['onStates']>[0] = () => undefined;
  const phones = relay.listener((states) => hear(states));
  return {
    ...phones,
    frame(id, bytes, missed) {
      phones.frame(id, bytes, missed);
      return true;
    },
    onStates(told) {
      hear = told;
    },
    // It starts and ends with this listener.
    onStart: () => undefined,
  };
}
