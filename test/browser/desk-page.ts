import { until } from '../kit/until.ts';
import type { Driven, View } from './chromium.ts';

export const DESKTOP: View = { width: 1400, height: 875 };
export const PHONE: View = { width: 390, height: 844, phone: true };
export type Shown = { column: string; fiber: string; state: string; text: string };

/** The cards that are in the page. */
export function cards(page: Driven): Promise<Shown[]> {
  return page.learn(`[...document.querySelectorAll('article[data-fiber]')].map((card) => ({
    column: card.closest('[data-column]')?.dataset.column ?? '',
    fiber: card.dataset.fiber,
    state: card.dataset.state,
    text: card.innerText,
  }))`);
}

export function cardWhen(
  page: Driven,
  fiber: string,
  what: string,
  holds: (card: Shown) => boolean = () => true,
): Promise<Shown> {
  return until(`the card of ${fiber}: ${what}`, async () =>
    (await cards(page)).find((card) => card.fiber === fiber && holds(card)),
  );
}

export const focused = (page: Driven) =>
  page.learn<string | null>('document.activeElement.dataset.fiber ?? null');

/**
 * What a browser says by itself where a connection to the daemon breaks, or none can be made. Of an asset that the service
 * worker asked for, Chromium says only that it failed; one that the daemon does not have is a 404 and counts.
 */
const BROKEN_CONNECTION =
  /net::ERR_(?:CONNECTION_(?:REFUSED|RESET|CLOSED|ABORTED)|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|CONTENT_LENGTH_MISMATCH|ABORTED|NETWORK_CHANGED|FAILED \S+\/assets\/)|WebSocket connection to|occurred when fetching the script/;
/** What it says of an answer that refuses. */
const REFUSED = /status of (?:409|422|501|503)/;

/** What a browser complained of, but for a daemon that is gone, boots or refuses: every one is a fault of the page. */
export function faults(page: Driven): string[] {
  return page.complaints.filter((one) => !BROKEN_CONNECTION.test(one) && !REFUSED.test(one));
}
