import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeClock } from '../../../src/base/clock.ts';
import { parseAppServerAddress } from '../../../src/config/app-server-address.ts';
import { AppServerConnection } from '../../../src/harness/app-server/connection.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

it('a server that was away is asked again some seconds later although the clock was set back', async () => {
  const path = join(scratch.path, 'app.sock');
  const clock = new FakeClock();
  const address = parseAppServerAddress(`unix:${path}`)!;
  const connection = new AppServerConnection({ address, clock, onNotice: () => {} });
  const ask = () => expect(connection.request('thread/list', {})).rejects.toThrow();
  await ask();
  let dials = 0;
  const server = createServer((socket) => {
    dials += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  try {
    await ask();
    expect(dials).toBe(0);
    clock.jumpTo(clock.now() - 3 * 3_600_000);
    clock.advance(20_000);
    await ask();
    expect(dials).toBe(1);
  } finally {
    connection.close();
    server.close();
  }
});
