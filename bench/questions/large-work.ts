import { createHash, randomBytes } from 'node:crypto';
import { appendFileSync, closeSync, mkdirSync, openSync, utimesSync, writeSync } from 'node:fs';
import { get, request } from 'node:http';
import { join } from 'node:path';
import { openConnection } from '../connection.ts';
import { BENCH_HOST, type BenchDaemon, startDaemon } from '../daemon.ts';
import { type Bench, shown } from '../frame.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';

const MIXED_MS = 15_000;
const SESSION = '11111111-1111-4111-8111-000000000001';
const TRANSCRIPT_BYTES = 300_000_000;

export const bench: Bench = {
  name: 'large-work',
  question:
    'how late is the main thread while 25 MB of images, a transcript of 300 MB and searches run together?',
  run: (log) =>
    withScratch(async (folder) => {
      const { root } = generateStore(join(folder, 's'), {
        fibers: 10_000,
        host: 'elsewhere',
        project_dir: folder,
      });
      const own = join(folder, 'o');
      generateStore(own, {
        fibers: 1,
        host: BENCH_HOST,
        project_dir: folder,
        served: 0,
        seed: 11,
        first: 50_000,
      });
      const transcript = writeTranscript(folder);
      const images = batchBody();
      const daemon = await startDaemon({ folder, stores: [root, own] });
      try {
        await daemon.fresh();
        const fiber = await anyFiber(daemon);
        await daemon.loopDelay();
        const until = performance.now() + MIXED_MS;
        const [batches, transcripts, searches] = await Promise.all([
          repeat(until, () => sendImages(daemon, images(fiber))),
          repeat(until, () => {
            // Grown: its digest has to be made again.
            appendFileSync(transcript, '{"type":"user"}\n');
            return readAll(daemon, `/api/v1/transcript/raw?session=${SESSION}`);
          }),
          searchOften(daemon, until),
        ]);
        log(`${batches} batches of 25 MB, ${transcripts} transcripts of 300 MB, ${searches} searches`);
        return [
          await daemon.loopFigure('under all of it'),
          shown('batches of 25 MB a second', (batches / MIXED_MS) * 1000, ''),
        ];
      } finally {
        await daemon.stop();
      }
    }),
};

async function repeat(until: number, run: () => Promise<void>): Promise<number> {
  let count = 0;
  for (; performance.now() < until; count += 1) await run();
  return count;
}

async function anyFiber(daemon: BenchDaemon): Promise<string> {
  const { body } = await daemon.json('GET', '/api/v1/search?query=the&limit=1');
  return (body as { hits: { id: string }[] }).hits[0]!.id;
}

/** Three images of 25 MB together, new ones each time. */
function batchBody(): (fiber: string) => Buffer {
  const images = [9_000_000, 8_000_000, 8_000_000].map((size) => randomBytes(size));
  return (fiber) => {
    const attachments = images.map((image, index) => {
      Buffer.from([0xff, 0xd8, 0xff]).copy(image);
      randomBytes(8).copy(image, 10);
      const sha256 = createHash('sha256').update(image).digest('hex');
      return { name: `${index}.jpg`, mime: 'image/jpeg', data: image.toString('base64'), sha256 };
    });
    return Buffer.from(JSON.stringify({ fiber, attachments }));
  };
}

function sendImages(daemon: BenchDaemon, body: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const options = {
      host: '127.0.0.1',
      port: daemon.port,
      path: '/api/v1/attachments',
      method: 'POST',
      headers,
    };
    const call = request(options, (response) => {
      response.resume();
      response.on('end', () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`/attachments: ${response.statusCode}`)),
      );
    });
    call.on('error', reject);
    call.end(body);
  });
}

function readAll(daemon: BenchDaemon, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port: daemon.port, path }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode}`));
      response.resume();
      response.on('end', () => resolve());
      response.on('error', reject);
    }).on('error', reject);
  });
}

async function searchOften(daemon: BenchDaemon, until: number): Promise<number> {
  const connection = await openConnection(daemon.port);
  const count = await repeat(until, async () => {
    await connection.get('/api/v1/search?query=parser+trims');
  });
  connection.close();
  return count;
}

/** A transcript of Claude Code in the home of the daemon. */
function writeTranscript(folder: string): string {
  const project = join(folder, '.claude/projects/-srv');
  mkdirSync(project, { recursive: true });
  const path = join(project, `${SESSION}.jsonl`);
  const record = `${JSON.stringify({ type: 'assistant', message: { content: 'x'.repeat(9_000) } })}\n`;
  const block = Buffer.from(record.repeat(200));
  const file = openSync(path, 'w');
  for (let written = 0; written < TRANSCRIPT_BYTES; written += block.length) writeSync(file, block);
  closeSync(file);
  utimesSync(path, 1_700_000_000, 1_700_000_000);
  return path;
}
