import { noticeSkew } from './skew.ts';

const EVERY_MS = 600_000;
const ANSWER_MS = 15_000;

/**
 * Asks the daemon for its page. One that loads another script is that of another build: scripts are named after what is
 * in them. Resolves to whether it is.
 */
export async function lookForUpdate(): Promise<boolean> {
  const own = document.querySelector('script[type=module][src]')?.getAttribute('src');
  if (own == null) return false;
  try {
    const response = await fetch('/', { cache: 'no-cache', signal: AbortSignal.timeout(ANSWER_MS) });
    const is_page = response.ok && response.headers.get('content-type')?.includes('text/html') === true;
    if (!is_page || (await response.text()).includes(`"${own}"`)) return false;
    noticeSkew('updated');
    return true;
  } catch {
    // That the daemon is gone is told elsewhere.
    return false;
  }
}

/** Looks again when the reader comes back to the page, and now and then. */
export function watchForUpdates(): void {
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') void lookForUpdate();
  });
  setInterval(() => void lookForUpdate(), EVERY_MS);
}
