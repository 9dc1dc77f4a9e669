import { FeedFollower } from '../board/src/lib/follow-feed.ts';
import type { LiveMessage } from '../board/src/model/wire.ts';

/** Follows the feed as the page does, by its own code. */
export function followAsBoard(port: number): FeedFollower {
  const follower = new FeedFollower(
    {
      async ask(since) {
        const response = await fetch(
          `http://127.0.0.1:${port}/api/v1/fibers/composite?since=${since === null ? '&first=true' : encodeURIComponent(since)}`,
          !since ? {} : { headers: { 'if-none-match': `W/"${since}"` } },
        );
        if (response.status === 304) return { kind: 'same' };
        if (!response.ok) throw new Error(`HTTP ${response.status}`);
        return { kind: 'feed', feed: (await response.json()) as never };
      },
      open({ message, closed }) {
        const socket = new WebSocket(`ws://127.0.0.1:${port}/api/v1/live?alive=true`);
        socket.onmessage = ({ data }) => message(JSON.parse(String(data)) as LiveMessage);
        socket.onclose = () => closed();
        return { close: () => socket.close() };
      },
      keep: () => undefined,
      kept: () => Promise.resolve(null),
      now: Date.now,
      after: (ms, run) => {
        const timer = setTimeout(run, ms);
        return () => clearTimeout(timer);
      },
    },
    () => undefined,
  );
  void follower.ask();
  return follower;
}
