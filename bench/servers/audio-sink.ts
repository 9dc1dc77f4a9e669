// The recorder's end of the question `audio-relay`, a process of its own as a recorder is. Each frame carries the time at
// which it was sent, by the clock that all processes of a machine share. For each line on its standard input, a time, it
// answers with the ways of the frames that were sent since, and forgets all.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { FRAME_BYTES, nowMs } from './audio-frames.ts';

const [socket = ''] = process.argv.slice(2);
let came: { sent: number; ms: number }[] = [];

const server = createServer((line) => {
  let rest: Buffer = Buffer.alloc(0);
  line.on('error', () => undefined);
  line.on('data', (chunk) => {
    const at = nowMs();
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (; rest.length >= FRAME_BYTES; rest = rest.subarray(FRAME_BYTES)) {
      const sent = rest.readDoubleLE(0);
      came.push({ sent, ms: at - sent });
    }
  });
});
server.listen(socket);
await once(server, 'listening');
process.stdout.write('1\n');

for await (const from of createInterface({ input: process.stdin })) {
  const ways_ms = came.filter(({ sent }) => sent >= Number(from)).map(({ ms }) => ms);
  came = [];
  process.stdout.write(`${JSON.stringify(ways_ms)}\n`);
}
process.exit();
