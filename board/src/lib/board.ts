import type { LiveMessage } from '../model/wire.ts';
import { askFeed, openLive } from './feed-client.ts';
import { FeedFollower, type Followed, type KeptFeed } from './follow-feed.ts';
import { FollowedValue, useValue } from './followed-value.ts';
import { keepValue, keptValue } from './kept-values.ts';

/** Names the rows that were kept; another build of the page may know other fields, and its scripts have other names. */
const KEPT_FEED = `feed of ${import.meta.url}`;
/** How soon a hidden page follows; a shown one does with its next frame. */
const HIDDEN_MS = 250;

type Ledger = Exclude<LiveMessage['feed'], 'fibers'>;

const listening = new Set<(ledger: Ledger) => void>();
let planned = false;

const follower = new FeedFollower(
  {
    ask: askFeed,
    open: (on) =>
      openLive({
        ...on,
        message: (message) => {
          on.message(message);
          tell(message);
        },
      }),
    keep: (kept) => void keepValue(KEPT_FEED, kept),
    kept: async () => ((await keptValue(KEPT_FEED)) as KeptFeed | undefined) ?? null,
    now: Date.now,
    after: (ms, run) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  },
  plan,
);
/** What is shown now, which may be a frame behind. */
const shown = new FollowedValue(follower.followed);

function tell({ feed }: LiveMessage): void {
  if (feed !== 'fibers') for (const hear of listening) hear(feed);
}

/** Calls back when a ledger of the daemon or its state has changed, while its socket is open. Returns how to stop. */
export function onLedger(hear: (ledger: Ledger) => void): () => void {
  listening.add(hear);
  return () => listening.delete(hear);
}

/** Changes that come within one frame are drawn together. */
function plan(): void {
  if (planned) return;
  planned = true;
  if (document.hidden) setTimeout(show, HIDDEN_MS);
  else requestAnimationFrame(show);
}

function show(): void {
  planned = false;
  shown.set(follower.followed);
}

/** Begins to follow the daemon that this page came from. */
export function startBoard(): void {
  void follower.ask();
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return;
    void follower.ask();
    // A frame that was asked for while the page was shown does not come while it is hidden.
    show();
  });
}

export function askNow(): void {
  void follower.ask();
}

/** What is shown now. */
export function followed(): Followed {
  return shown.get();
}

export const watchFollowed = shown.watch;

export function useFollowed(): Followed {
  return useValue(shown, (now) => now);
}
