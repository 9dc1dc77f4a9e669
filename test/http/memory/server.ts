// A server in a process of its own, so that the kernel tells what it holds. Arguments: the server, a file to serve.
import { z } from 'zod';
import { systemClock } from '../../../src/base/clock.ts';
import type { ServerKind } from '../../../src/http/transport.ts';
import { createFileReader } from '../../../src/platform/file-reader.ts';
import type { Callers } from '../../../src/routes/callers.ts';
import type { FeedMove } from '../../../src/routes/feed-cache.ts';
import { liveRows } from '../../../src/routes/live.ts';
import { answeringDisks } from '../../kit/answering-disks.ts';
import { getRow, json, postRow, serve } from '../served.ts';

const [http, path = ''] = process.argv.slice(2) as [ServerKind, string];
const files = createFileReader(systemClock, answeringDisks);
const { stamp } = await files.stamp(path);

const moveSchema = z.object({ tag: z.string(), bytes: z.number() });
let move: ((move: FeedMove) => void) | null = null;
/** The feed of `GET /live`, which moves when it is told to. */
const live = liveRows(
  { ledgers: { onEvent: () => undefined }, poller: { onEvent: () => undefined } } as unknown as Callers,
  {
    current: () => null,
    onDelta(_variant, follower) {
      move = follower;
      return () => {
        move = null;
      };
    },
  },
  { tag: null, onChanged: () => () => undefined },
  { host: 'host-a', clock: systemClock },
);

const { port } = await serve(
  [
    ...live,
    postRow(
      '/move',
      (request) => {
        const { tag, bytes } = request.body as z.infer<typeof moveSchema>;
        const delta = Buffer.from(JSON.stringify({ tag, removed: ['x'.repeat(bytes)] }));
        move?.({ since: 'before', tag, delta });
        return json({});
      },
      { body: moveSchema },
    ),
    getRow('/file', () => ({
      status: 200,
      content: { size: stamp.size, read: (from, end) => files.read(path, stamp, from, end) },
      content_type: 'application/octet-stream',
    })),
    getRow('/answer', () => ({
      status: 200,
      bytes: new Uint8Array(4 * 1024 * 1024).fill(1),
      content_type: 'application/octet-stream',
    })),
    getRow('/small', () => json({ small: true })),
    // What is measured is what the server holds, and not what the engine has not collected yet.
    getRow('/collect', () => {
      gc?.();
      return json({});
    }),
    postRow('/long', (request) => json((request.body as Uint8Array).length), {
      body: 'bytes',
      body_limit: 64 * 1024 * 1024,
    }),
    postRow('/document', (request) => json((request.body as Uint8Array).length), {
      body: 'bytes',
      body_limit: 4 * 1024 * 1024,
    }),
  ],
  { http },
);
process.stdout.write(`${port}\n`);
