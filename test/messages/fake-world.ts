import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { Receipt, ReceiptStatus } from '../../src/contract/http/messages.ts';
import { markerOf } from '../../src/contract/message-text.ts';
import type {
  AppMessage,
  AppMessageOutcome,
  AppMessageStage,
} from '../../src/contract/threads/app-message.ts';
import type { ContextTarget } from '../../src/contract/threads/context-target.ts';
import type { MessageTarget } from '../../src/contract/threads/message-target.ts';
import { attachmentPlaces, storeAttachments } from '../../src/fibers/attachments/store-attachments.ts';
import type { GivenMessage, InputScreen, OpenWay } from '../../src/harness/harness.ts';
import { ContextMailbox } from '../../src/messages/context-mailbox.ts';
import type { Session } from '../../src/messages/delivery-plan.ts';
import type { DeliveryWorld } from '../../src/messages/delivery-world.ts';
import type { ComposerShows } from '../../src/messages/kept-drafts.ts';
import { LedgerWriter } from '../../src/messages/ledger-writer.ts';
import { createFileKeeper } from '../../src/messages/message-files.ts';
import { MessageStore } from '../../src/messages/message-store.ts';
import { type DeliveryLimits, MessagesService } from '../../src/messages/messages-service.ts';

/** Each stage of a message is synced to the disk; in memory that costs nothing. */
const TEMP = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export const ADDRESS = 'svc://here/claude/s-1';

export const RUNNING: Session = {
  kind: 'running',
  fiber_id: 'work/loader',
  uid: '01K00000000000000000000000',
  surface: 'cli',
  mux: { id: '$1', name: 'loader-svc', pane: { id: '%1', pid: 7 } },
  app: null,
  transcript: '/transcript.jsonl',
};

export const CONTEXT: ContextTarget & { kind: 'found' } = {
  kind: 'found',
  fiber_id: 'work/loader',
  uid: '01K00000000000000000000000',
  transcript: '/transcript.jsonl',
  hooks: 'current',
  setup: null,
};

export const APP_ADDRESS = 'svc://here/codex/t-1';

/** The same worker as an app conversation. */
export const CONVERSATION: Session = { ...RUNNING, surface: 'app', mux: null, app: 'ready' };

/** A session whose terminal, transcript and death a test decides; the store is real. */
export class FakeSession {
  readonly folder = mkdtempSync(join(TEMP, 'svc-messages-'));
  target: MessageTarget | Error = RUNNING;
  /** The session to which context is added. */
  context: ContextTarget | Error = CONTEXT;
  /** What its transcript has as context. */
  transcript = '';
  screen: InputScreen | null = 'ready';
  /** What its composer shows of the last text. */
  composer: ComposerShows = 'taken';
  /** How often Enter was pressed. */
  presses = 0;
  /** What its program answers to a text given without a key pressed; null if it has no such way. */
  way_outcome: GivenMessage | null = null;
  /** How many ways are open. */
  open_ways = 0;
  /** Texts that the terminal, or the program on its own way, was given. */
  typed: string[] = [];
  outcome: { kind: 'pasted' | 'gone' } | { kind: 'unknown'; detail: string } = { kind: 'pasted' };
  /** Messages that the app server was given. */
  given: AppMessage[] = [];
  app_outcome: AppMessageOutcome = { kind: 'given' };
  /** What the transcript proves of a text that was given. */
  stage: ReceiptStatus | null = 'submitted';
  /** What the conversation shows of a message that was given. */
  app_stage: AppMessageStage | Error = 'submitted';
  /** Called before and after a text is given. */
  giving: (moment: 'before' | 'after') => Promise<void> = async () => {};

  #nonces = 0;

  readonly ledger_file = join(this.folder, 'messages.jsonl');
  readonly events_file = join(this.folder, 'events.jsonl');
  readonly ledger = new LedgerWriter({
    path: this.ledger_file,
    events_file: this.events_file,
    logger: silentLogger,
  });

  store(): MessageStore {
    return new MessageStore(join(this.folder, 'messages'), this.ledger);
  }

  world(): DeliveryWorld {
    return {
      host: 'here',
      newNonce: () => `n${++this.#nonces}`,
      clock: systemClock,
      logger: silentLogger,
      store: this.store(),
      ledger: this.ledger,
      files: createFileKeeper(
        join(this.folder, 'attachments'),
        async ({ folder, of, files, dry_run }, bytes) => {
          if (dry_run) return { files: attachmentPlaces(folder, of, files) };
          return { files: storeAttachments({ folder, of, files, bytes: bytes ?? new Uint8Array(0) }) };
        },
      ),
      target: async () => {
        if (this.target instanceof Error) throw this.target;
        return this.target;
      },
      open: async () => this.#way(),
      mailbox: new ContextMailbox(join(this.folder, 'messages')),
      contextTarget: async () => {
        if (this.context instanceof Error) throw this.context;
        return this.context;
      },
      screen: async () => this.screen,
      composer: async () => this.composer,
      pressEnter: async () => {
        this.composer = 'taken';
        this.presses += 1;
        return true;
      },
      type: async (_terminal, text) => {
        await this.giving('before');
        if (this.outcome.kind !== 'gone') this.typed.push(text);
        await this.giving('after');
        return this.outcome;
      },
      give: async (message) => {
        await this.giving('before');
        const { kind } = this.app_outcome;
        if (kind === 'given' || kind === 'unknown') this.given.push(message);
        await this.giving('after');
        return this.app_outcome;
      },
      stageIn: async ({ message_id }) => {
        if (this.app_stage instanceof Error) throw this.app_stage;
        return this.given.some((one) => one.message_id === message_id) ? this.app_stage : null;
      },
      sizeOf: async () => 0,
      evidence: async (_address, _place, { wake, ...framed }) => {
        const marker = markerOf(framed);
        if (!wake) return this.transcript.includes(marker) ? 'context_added' : null;
        return this.typed.some((text) => text.startsWith(marker)) ? this.stage : null;
      },
    };
  }

  #way(): OpenWay | null {
    const outcome = this.way_outcome;
    if (outcome === null) return null;
    this.open_ways += 1;
    return {
      transport: 'extension',
      give: async (text) => {
        await this.giving('before');
        if (outcome.kind !== 'not_given') this.typed.push(text);
        await this.giving('after');
        return outcome;
      },
      close: () => {
        this.open_ways -= 1;
      },
    };
  }

  /** A daemon on the folder; one after the other. */
  service(limits: Partial<DeliveryLimits> = {}): MessagesService {
    return new MessagesService(this.world(), { observe: 0, recheck: 0, hold: 60_000, pair: 20, ...limits });
  }

  /** Sends a message through a daemon that is killed before or after the text is given; null if it was. */
  async killedAt(
    moment: 'before' | 'after' | null,
    service: MessagesService,
    one: ReturnType<typeof message>,
  ): Promise<Receipt | null> {
    const { promise: killed, resolve } = Promise.withResolvers<null>();
    this.giving = async (now) => {
      if (now !== moment) return;
      service.stop();
      resolve(null);
      // What is dead goes on with nothing.
      await new Promise(() => {});
    };
    const answer = await Promise.race([killed, service.send(one)]);
    this.giving = async () => {};
    return answer as Receipt | null;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function message(message_id: string, more: { text?: string; address?: string; wake?: boolean } = {}) {
  const text = 'Look at the last commit.';
  return { address: ADDRESS, text, from: 'ada', wake: true, message_id, files: [], ...more };
}
