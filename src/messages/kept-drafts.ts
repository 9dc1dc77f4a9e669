import { type Clock, sleep } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { MessageLine } from '../contract/ledger.ts';
import { textForAgent } from '../contract/message-text.ts';
import { parseAddress, type SessionAddress } from '../contract/session-address.ts';
import type { MessageTarget } from '../contract/threads/message-target.ts';
import type { MessageInput } from '../harness/harness.ts';
import type { Terminal } from './delivery-plan.ts';
import type { MessageRecord } from './message-record.ts';

/** What the composer of a session shows of a text that was typed into it; `covered` if it is not in sight. */
export type ComposerShows = 'kept' | 'covered' | 'taken';

export type DraftWorld = {
  clock: Clock;
  logger: Logger;
  target(address: SessionAddress): Promise<MessageTarget>;
  /** What became of a text in the composer; a program that takes each text with its Enter has always taken it. */
  composer(address: SessionAddress, terminal: Terminal, text: string): Promise<ComposerShows>;
  /** Presses Enter in the terminal whose composer was looked at last; false if that is not known to have happened. */
  pressEnter(terminal: Terminal): Promise<boolean>;
};

/** What a screen says of a text that was typed into the composer of a program. */
export function composerShows(
  { holdsText, readScreen }: Pick<MessageInput, 'holdsText' | 'readScreen'>,
  screen: string | null,
  text: string,
): ComposerShows {
  if (holdsText === undefined) return 'taken';
  if (screen === null) return 'covered';
  if (holdsText(screen, text)) return 'kept';
  const shown = readScreen(screen);
  return shown === 'ready' || shown === 'draft' ? 'taken' : 'covered';
}

/** Looks are at least this far apart, so that a program that is slow to take its Enter gets no second one. */
const LOOK_MS = 2_000;
/** A dialog may stand before the composer for long: after so many looks there are fewer, and then none. */
const OFTEN = 30;
const SELDOM_MS = 15_000;
const LOOKS = OFTEN + 240;

/**
 * Sends texts that a program kept as a draft although Enter came with them, by pressing Enter once more. Of each session
 * only the newest text is watched: it was typed into an empty composer. One to which a person added words is left.
 */
export class KeptDrafts {
  readonly #world: DraftWorld;
  /** The message that is watched, by address. */
  readonly #newest = new Map<string, string>();

  constructor(world: DraftWorld) {
    this.#world = world;
  }

  /** Watches a message that was typed and is not in the transcript yet. */
  watch(record: MessageRecord): void {
    this.#newest.set(record.address, record.message_id);
    void this.#watch(record)
      .catch((error) => {
        const facts = { message: record.message_id, detail: messageOf(error) };
        this.#world.logger.warn(facts, 'whether a text was kept as a draft could not be looked at');
      })
      .finally(() => {
        if (this.#isNewest(record)) this.#newest.delete(record.address);
      });
  }

  stop(): void {
    this.#newest.clear();
  }

  #isNewest({ address, message_id }: MessageRecord): boolean {
    return this.#newest.get(address) === message_id;
  }

  async #watch(record: MessageRecord): Promise<void> {
    const { clock, logger, pressEnter } = this.#world;
    const address = parseAddress(record.address);
    let before = 'covered' as ComposerShows;
    for (let look = 0; look < LOOKS; look += 1) {
      await sleep(clock, look < OFTEN ? LOOK_MS : SELDOM_MS);
      if (!this.#isNewest(record)) return;
      const terminal = await this.#terminalOf(address);
      if (terminal === 'gone') return;
      const shows =
        terminal === null ? 'covered' : await this.#world.composer(address, terminal, textForAgent(record));
      if (shows === 'taken') return;
      // Twice in a row: what is shown once may be on its way.
      const press: boolean = shows === 'kept' && before === 'kept' && this.#isNewest(record);
      if (press && terminal !== null && (await pressEnter(terminal)))
        logger.info(
          { fiber: record.fiber?.id, session: address.native_id, message: record.message_id },
          'Enter was pressed for a message that was kept as a draft',
        );
      before = press ? 'covered' : shows;
    }
  }

  /** Null while it is not known. */
  async #terminalOf(address: SessionAddress): Promise<Terminal | 'gone' | null> {
    try {
      const target = await this.#world.target(address);
      if (target.kind === 'unknown' || target.kind === 'moving') return null;
      return (target.kind === 'running' ? target.mux : null) ?? 'gone';
    } catch {
      return null;
    }
  }
}

/** The ids of messages that an earlier daemon typed last into their sessions, and of which no evidence was seen. */
export function unseenIn(lines: readonly MessageLine[]): string[] {
  const last = new Map<string, MessageLine>();
  for (const line of lines) if (line.transport === 'terminal') last.set(line.to, line);
  return [...last.values()].flatMap(({ id, status }) => (status === 'unknown' ? [id] : []));
}
