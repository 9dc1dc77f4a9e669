// The floor of the question `audio-relay`: passes each message of a WebSocket to the recorder's socket at argv[2], and
// does nothing else.

import { App, us_socket_local_port } from 'uWebSockets.js';
import { connect, type Socket } from 'node:net';
import { AUDIO_PATH } from './audio-frames.ts';

const [, , recorder = ''] = process.argv;
const app = App();
app.ws<{ line: Socket | null }>(AUDIO_PATH, {
  upgrade(res, req, context) {
    const header = (name: string) => req.getHeader(`sec-websocket-${name}`);
    res.upgrade({ line: null }, header('key'), header('protocol'), header('extensions'), context);
  },
  open(phone) {
    const line = connect(recorder);
    phone.getUserData().line = line;
    line.once('connect', () => void phone.send(JSON.stringify({ state: 'connected' })));
  },
  // The bytes are lent for this call alone.
  message: (phone, bytes) => void phone.getUserData().line?.write(Buffer.from(bytes.slice(0))),
  close: (phone) => void phone.getUserData().line?.destroy(),
});
app.listen('127.0.0.1', 0, (socket) => {
  if (!socket) throw new Error('no port');
  process.stdout.write(`${us_socket_local_port(socket)}\n`);
});
