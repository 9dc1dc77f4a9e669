import { CodedError } from '../../src/base/errors.ts';
import type { FeedTransport, Question } from '../../src/fleet/feed-transport.ts';
import type { LiveStream, StreamEvents } from '../../src/fleet/live-stream.ts';
import type { HttpBytes } from '../../src/platform/http-client.ts';

type Told = { status?: number; body?: unknown; etag?: string };

/** A host as it would answer; null where it does not. */
export type FakeHost = {
  version: () => Told | null;
  feed: (since: string, question: Question) => Told | null;
  stores?: () => Told;
};

/** Answers at once, from hosts by their URLs, and remembers what was asked. */
export class FakeTransport implements FeedTransport {
  readonly hosts = new Map<string, FakeHost>();
  readonly asked: Question[] = [];
  /** The streams so far, and whether each was closed from here; none tells anything by itself. */
  readonly streams: { on: StreamEvents; is_closed: boolean }[] = [];

  open(_question: unknown, on: StreamEvents): LiveStream {
    const stream = { on, is_closed: false };
    this.streams.push(stream);
    return {
      close: () => {
        stream.is_closed = true;
      },
    };
  }

  async get(question: Question): Promise<HttpBytes> {
    this.asked.push(question);
    const { to, path, meter } = question;
    const host = 'url' in to.address ? this.hosts.get(to.address.url) : undefined;
    const since = path.startsWith('/fibers?since=') ? decodeURIComponent(path.split('=')[1] ?? '') : null;
    const told =
      path === '/fiber-stores'
        ? (host?.stores?.() ?? { status: 404 })
        : since === null
          ? host?.version()
          : host?.feed(since, question);
    if (told == null) throw new CodedError('remote_unreachable', `${to.name} is not there`);
    const { status = 200, body = null, etag } = told;
    const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
    meter.bytes += bytes.length;
    return { status, headers: etag === undefined ? {} : { etag }, body: bytes };
  }
}
