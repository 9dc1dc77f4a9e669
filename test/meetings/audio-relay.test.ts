import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { AudioRelay, type ListenerPhones } from '../../src/meetings/audio-relay.ts';
import type { RelayedMeeting } from '../../src/meetings/meeting-service.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { until } from '../kit/until.ts';

let folder: ScratchFolder;
let recorder: Server;
let line: Socket | null;
let relay: AudioRelay;
let phones: ListenerPhones;
let state: RelayedMeeting['state'];
beforeEach(async () => {
  folder = scratchFolder();
  line = null;
  state = 'live';
  const socket = join(folder.path, 'rec.sock');
  recorder = createServer((one) => {
    line = one;
  });
  await new Promise<void>((resolve) => recorder.listen(socket, resolve));
  relay = new AudioRelay({
    ...{ clock: systemClock, logger: silentLogger },
    meeting: () => ({ launch: 'L1', mode: 'phone', state, error: null, socket }),
    look: async () => undefined,
    requireOwn: async () => undefined,
  });
  phones = relay.listener(() => undefined);
});
afterEach(async () => {
  relay.stop();
  line?.destroy();
  await new Promise((resolve) => recorder.close(resolve));
  folder.remove();
});

const FRAME = new Uint8Array(640).fill(7);

describe('the frames that pass through', () => {
  it('[AUD-2] are counted, and so are those that were dropped here or never came here', async () => {
    phones.open(1, 'L1');
    phones.frame(1, FRAME, 0);
    expect(relay.view()).toMatchObject({ frames: 0, dropped: 1 });
    await until('connected', () => relay.view()?.connected);
    phones.frame(1, FRAME, 0);
    phones.frame(1, FRAME, 3);
    expect(relay.view()).toMatchObject({ frames: 2, dropped: 4 });
    const bytes: Buffer[] = [];
    await until('the recorder’s line', () => line);
    line!.on('data', (chunk) => bytes.push(chunk));
    await until('both frames', () => Buffer.concat(bytes).length === 2 * FRAME.length);
  });

  it('[AUD-5] pass again once the recorder is seen again, over the connection that was there all the time', async () => {
    phones.open(1, 'L1');
    await until('connected', () => relay.view()?.connected);
    state = 'starting';
    relay.followMeeting();
    phones.frame(1, FRAME, 0);
    expect(relay.view()).toMatchObject({ connected: false, frames: 0, dropped: 1 });
    state = 'live';
    relay.followMeeting();
    phones.frame(1, FRAME, 0);
    expect(relay.view()).toMatchObject({ connected: true, frames: 1, dropped: 1 });
  });
});
