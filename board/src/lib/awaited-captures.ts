import type { FeedCopy } from '../model/feed-copy.ts';
import { toast } from './toasts.ts';
import { go } from './url.ts';

/** The captures of this page whose fibers are still to come: their titles by run. */
const awaited = new Map<string, string>();

export function awaitCapture(run_id: string, title: string): void {
  awaited.set(run_id, title);
}

/** Says of each awaited capture whose fiber the feed shows that it is there. */
export function lookForCaptures({ rows }: FeedCopy): void {
  if (awaited.size === 0) return;
  for (const { id, name, runtime } of rows.values()) {
    if (runtime === undefined || !awaited.delete(runtime.run_id)) continue;
    toast(`Your capture is the fiber “${name}”.`, { action: { text: 'Open', run: () => go({ fiber: id }) } });
  }
}
