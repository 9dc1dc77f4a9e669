import type { Booting, FibersComposite, LiveMessage } from '../model/wire.ts';
import type { Answer, Socket } from './follow-feed.ts';

/** The feeds of all hosts. */
const FEED = '/api/v1/fibers/composite?since=';
/** As the page preloads it; anything else would load it twice. */
const FIRST = `${FEED}&first=true`;
/** A daemon that takes longer is gone for the reader. */
const ANSWER_MS = 10_000;
/** The first feed of a slow line may take its time. */
const WHOLE_FEED_MS = 60_000;

/** Asks what changed after a tag; an empty one for the whole feed, null for what is shown first. Never throws. */
export async function askFeed(since: string | null): Promise<Answer> {
  try {
    const whole = !since;
    // A 304 costs the least.
    const response = await fetch(since === null ? FIRST : `${FEED}${encodeURIComponent(since)}`, {
      signal: AbortSignal.timeout(whole ? WHOLE_FEED_MS : ANSWER_MS),
      ...(whole ? {} : { headers: { 'if-none-match': `W/"${since}"` } }),
    });
    if (response.status === 304) return { kind: 'same' };
    const body = (await response.json()) as unknown;
    // To read a large feed takes long enough for one task.
    if (whole) await new Promise((next) => setTimeout(next));
    if (response.ok) return { kind: 'feed', feed: body as FibersComposite };
    const refusal = body as { error?: string; message?: string; reason?: string };
    if (refusal.error === 'booting') return { kind: 'booting', booting: body as Booting };
    return { kind: 'refused', message: refusal.message ?? refusal.reason ?? `HTTP ${response.status}` };
  } catch {
    return { kind: 'gone' };
  }
}

/** Opens `GET /live`. `closed` is called once, also for a socket that never opened. */
export function openLive(on: { message(message: LiveMessage): void; closed(): void }): Socket {
  const socket = new WebSocket(
    `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api/v1/live?alive=true`,
  );
  socket.onmessage = ({ data }) => on.message(JSON.parse(String(data)) as LiveMessage);
  socket.onclose = () => on.closed();
  return {
    close: () => {
      socket.onclose = null;
      socket.close();
    },
  };
}
