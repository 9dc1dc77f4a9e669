import { CodedError } from '../base/errors.ts';
import type { MessageLine } from '../contract/ledger.ts';
import { canonicalAddress, looksLikeAddress } from '../contract/session-address.ts';

export const HOUR_MS = 3_600_000;

type Sent = { from: string; at: number; hops: number };

/** A person writes more to one session than another session does; nobody writes back to a name. */
const BY_A_NAME = 5;

/**
 * Limits what two sessions write to each other, so that two agents cannot answer each other for ever: the messages of an
 * hour, in both directions, and how often one answered the other without an hour’s pause (`hops`). A sender who is no
 * address may be an agent too: each name has `BY_A_NAME` times as many to one session.
 */
export class PairLimit {
  readonly #most: number;
  /** The last hour's messages by pair, oldest first. */
  readonly #sent = new Map<string, Sent[]>();

  /** `lines`: stages of the messages of the last hour, in the order of the ledger. */
  constructor(most: number, lines: readonly MessageLine[] = []) {
    this.#most = most;
    const known = new Map(lines.map((line) => [`${line.id} ${line.sent_at}`, line]));
    for (const { from, to, sent_at, hops } of [...known.values()].sort((a, b) => a.sent_at - b.sent_at))
      this.#add(canonical(from), to, { at: sent_at, hops });
  }

  /**
   * How many messages of their conversation one more message to a canonical address answers. Throws `preflight_failed`
   * for one too many; counts nothing, also not what was sent before the clock was set back to now.
   */
  check(from: string, to: string, now: number): number {
    const pair = pairOf(canonical(from), to);
    const sent = (this.#sent.get(pair) ?? []).filter(({ at }) => at > now - HOUR_MS && at <= now);
    const answered = sent.findLast((one) => one.from === to);
    const hops = answered === undefined ? 0 : answered.hops + 1;
    if (!looksLikeAddress(from) && sent.length >= BY_A_NAME * this.#most)
      throw refusal(`${from} wrote ${sent.length} messages to this session within an hour`, 'wait');
    if (looksLikeAddress(from) && sent.length >= this.#most)
      throw refusal(`these two sessions wrote ${sent.length} messages to each other within an hour`, 'wait');
    if (hops >= this.#most)
      throw refusal(
        `these two sessions answered each other ${hops} times without an hour’s pause`,
        'wait for an hour',
      );
    return hops;
  }

  /** Counts one message; as `check` otherwise. */
  take(from: string, to: string, now: number): number {
    const hops = this.check(from, to, now);
    this.#forgetBefore(now - HOUR_MS);
    this.#add(canonical(from), to, { at: now, hops });
    return hops;
  }

  /** Takes back one message that `take` counted at a time, since it was not kept. */
  giveBack(from: string, to: string, at: number): void {
    const sender = canonical(from);
    const sent = this.#sent.get(pairOf(sender, to)) ?? [];
    const counted = sent.findLastIndex((one) => one.from === sender && one.at === at);
    if (counted !== -1) sent.splice(counted, 1);
  }

  #forgetBefore(time: number): void {
    for (const [pair, sent] of this.#sent) {
      const recent = sent.filter(({ at }) => at > time);
      if (recent.length === 0) this.#sent.delete(pair);
      else this.#sent.set(pair, recent);
    }
  }

  #add(from: string, to: string, { at, hops }: Omit<Sent, 'from'>): void {
    const pair = pairOf(from, to);
    const sent = this.#sent.get(pair);
    if (sent === undefined) this.#sent.set(pair, [{ from, at, hops }]);
    else sent.push({ from, at, hops });
  }
}

function refusal(did: string, mend: string): CodedError {
  return new CodedError(
    'preflight_failed',
    `${did}, which looks like a loop; ${mend}, or raise SVC_MESSAGE_PAIR_LIMIT`,
  );
}

function pairOf(from: string, to: string): string {
  return [from, to].toSorted().join(' ');
}

/** Another spelling of an address is the same sender. */
function canonical(from: string): string {
  return canonicalAddress(from) ?? from;
}
