// `npm run fuzz:http [-- --seconds 600 --seed N --http uws|node]`: sends broken requests to a server of its own until
// the time is over. Ends with exit code 1 at the first answer a proxy would not forward, effect that nobody was
// entitled to, connection that is not let go of, or failure of the server. The seed is printed first.
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { parseArgs } from 'node:util';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createHttpServer } from '../../../src/http/server.ts';
import { ANSWERED_HERE, getRow, json, LOOPBACK_ONLY, postRow } from '../served.ts';
import { casesOn } from './cases.ts';
import { readStrictly } from './strict-answers.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    http: { type: 'string', default: 'uws' },
  },
});
const AT_ONCE = 64;
/** What mutations put in. */
const TOKENS = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  ':',
  '\r\n\r\n',
  '0\r\n\r\n',
  'Host: a\r\n',
  'Content-Length: 7\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Expect: 100-continue\r\n',
  'HTTP/1.0',
  '%00',
  '../',
  '\xff',
  '99999999999',
];
/** What a connection is given to be answered, in milliseconds; then its client leaves. */
const LISTEN_MS = 250;

const seed = Number(values.seed);
const http = values.http === 'node' ? 'node' : 'uws';
const say = (line: string) => void process.stdout.write(`${line}\n`);
say(`seed ${seed}, transport ${http}, ${values.seconds} s`);

const random = generator(seed);
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;

let handled = 0;
const server = createHttpServer({
  host: 'host-a',
  routes: [
    getRow('/ok', () => json('ok', { etag: '"1"' })),
    getRow('/files/*path', (request) => json(request.params.path)),
    postRow(
      '/act',
      (request) => {
        handled += 1;
        return json((request.body as Uint8Array).length);
      },
      { body: 'bytes' },
    ),
  ],
  access: LOOPBACK_ONLY,
  booting: () => null,
  route: ANSWERED_HERE,
  http,
  // Who dials is not what is tried here, and looking it up is what takes time.
  peers: { view: { mode: 'none', uid: null, source: 'none' } },
  logger: silentLogger,
  clock: systemClock,
});
const [address] = await server.listen('127.0.0.1:0');
const port = Number(address!.split(':').at(-1));
const seeds = casesOn(http)
  .map(({ parts }) =>
    Buffer.concat(
      parts.map((part) => (typeof part === 'number' ? Buffer.alloc(0) : Buffer.from(part as string))),
    ),
  )
  .filter(({ length }) => length > 0 && length < 20_000);

await send(Buffer.from('GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n'));
const fds = openFds();
const until = Date.now() + Number(values.seconds) * 1_000;
let sent = 0;
const found: string[] = [];
process.on('uncaughtException', (error) => found.push(`the server failed: ${error.stack}`));

await Promise.all(Array.from({ length: AT_ONCE }, work));
const deadline = Date.now() + 15_000;
while (openFds() > fds && Date.now() < deadline) await new Promise((wait) => setTimeout(wait, 200));
if (openFds() > fds) found.push(`${openFds() - fds} connections were not let go of`);
const last = await send(Buffer.from('GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n'));
if (!last.text.startsWith('HTTP/1.1 200')) found.push('a plain request is not served any more');
await server.stop();
say(`${sent} connections, ${handled} requests with a body handled, ${found.length} findings`);
for (const finding of found.slice(0, 10)) say(finding);
process.exit(found.length > 0 ? 1 : 0);

async function work(): Promise<void> {
  while (Date.now() < until && found.length === 0) {
    const bytes = mutated();
    const { text } = await send(bytes);
    sent += 1;
    try {
      // An answer to a HEAD cannot be told from others here.
      if (bytes.includes('HEAD')) continue;
      readStrictly(
        text,
        Array.from({ length: 200 }, () => 'GET'),
        true,
      );
    } catch (error) {
      found.push(
        `${String(error)}\n  sent ${JSON.stringify(bytes.toString('latin1'))}\n  heard ${JSON.stringify(text)}`,
      );
    }
  }
}

/** A known case with bytes changed, cut, doubled or put in, or two cases run into one. */
function mutated(): Buffer {
  let bytes = Buffer.from(pick(seeds));
  for (let changes = 1 + Math.floor(random() * 4); changes > 0; changes -= 1) {
    const at = Math.floor(random() * bytes.length);
    const to = Math.min(bytes.length, at + 1 + Math.floor(random() * 12));
    const [before, middle, after] = [bytes.subarray(0, at), bytes.subarray(at, to), bytes.subarray(to)];
    const token = Buffer.from(pick(TOKENS), 'latin1');
    const changed = [
      [before, Buffer.from([Math.floor(random() * 256)]), bytes.subarray(at + 1)],
      [before, after],
      [before, middle, middle, after],
      [before, token, middle, after],
      [before, token, after],
      [before, pick(seeds)],
    ];
    bytes = Buffer.concat(pick(changed));
  }
  return bytes;
}

function send(bytes: Buffer): Promise<{ text: string; closed: boolean }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    const finish = (closed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text: Buffer.concat(chunks).toString('latin1'), closed });
    };
    const timer = setTimeout(() => finish(false), LISTEN_MS);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.once('close', () => finish(true));
    const cut = Math.floor(random() * bytes.length);
    socket.write(bytes.subarray(0, cut));
    setImmediate(() => socket.write(bytes.subarray(cut)));
  });
}

function openFds(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0;
}

/** Numbers from 0 up to 1 that follow from a seed (mulberry32). */
function generator(from: number): () => number {
  let state = from >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
