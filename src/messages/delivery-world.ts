import type { Clock } from '../base/clock.ts';
import { messageOf, systemCode } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { newNonce } from '../base/nonce.ts';
import { dataPaths } from '../config/paths.ts';
import type { Settings } from '../config/settings.ts';
import type { Receipt } from '../contract/http/messages.ts';
import { type Framed, hasMessage, markerOf } from '../contract/message-text.ts';
import type { SessionAddress } from '../contract/session-address.ts';
import type {
  AppMessage,
  AppMessageOutcome,
  AppMessageQuery,
  AppMessageStage,
} from '../contract/threads/app-message.ts';
import type { InputScreen, OpenWay } from '../harness/harness.ts';
import { HARNESSES } from '../harness/harnesses.ts';
import { createPaneInput } from '../mux/pane-input.ts';
import { findExecutable } from '../platform/find-executable.ts';
import { statForeign } from '../platform/foreign-paths.ts';
import { createRunner } from '../platform/process.ts';
import { createProcessFacts } from '../platform/process-facts.ts';
import type { ContextWorld } from './context-delivery.ts';
import { ContextMailbox } from './context-mailbox.ts';
import type { Terminal } from './delivery-plan.ts';
import { composerShows, type DraftWorld } from './kept-drafts.ts';
import type { LedgerWriter } from './ledger-writer.ts';
import type { FileKeeper } from './message-files.ts';
import type { MessageStore } from './message-store.ts';
import { recordsFrom } from './transcript-evidence.ts';

/** Limit of one answer of tmux, in milliseconds. */
const TMUX_MS = 5_000;

/** What a delivery needs of this machine. */
export type DeliveryWorld = ContextWorld &
  DraftWorld & {
    host: string;
    /** A text that nobody can guess. */
    newNonce(): string;
    store: MessageStore;
    ledger: Pick<LedgerWriter, 'since'>;
    files: FileKeeper;
    /** A way into the session that presses no keys; null if there is none, or it does not answer. */
    open(address: SessionAddress, terminal: Terminal): Promise<OpenWay | null>;
    /** What the terminal shows; null if it cannot be read. */
    screen(address: SessionAddress, terminal: Terminal): Promise<InputScreen | null>;
    /** Types a text as one message. `gone`: not a byte of it was given. */
    type(
      terminal: Terminal,
      text: string,
    ): Promise<{ kind: 'pasted' | 'gone' } | { kind: 'unknown'; detail: string }>;
    /** Size of a transcript; 0 if there is none. */
    sizeOf(transcript: string | null): Promise<number>;
    /** What the records after an offset say of a message; without a wake only whether it is context there. */
    evidence(
      address: SessionAddress,
      place: { transcript: string; offset: number },
      message: Framed & { wake: boolean },
    ): Promise<Receipt['status'] | null>;
    /** Gives a text to an app conversation as one message. */
    give(message: AppMessage): Promise<AppMessageOutcome>;
    /** What an app conversation shows of a message; throws while its server does not answer. */
    stageIn(message: AppMessageQuery): Promise<AppMessageStage>;
  };

/** The sessions of this machine as a delivery reaches them. */
export async function connectDelivery(options: {
  settings: Settings & { host_id: string };
  clock: Clock;
  logger: Logger;
  store: MessageStore;
  ledger: LedgerWriter;
  /** What the poller answers for this thread. */
  poller: Pick<DeliveryWorld, 'target' | 'contextTarget' | 'give' | 'stageIn'>;
  files: FileKeeper;
}): Promise<DeliveryWorld> {
  const { settings, clock, logger, poller, files } = options;
  const runner = createRunner();
  const tmux = await findExecutable('tmux', process.env.PATH ?? '');
  const panes =
    tmux === null
      ? null
      : createPaneInput({
          ...{ tmux, socket: settings.tmux_socket, env: process.env, runner, clock },
          facts: createProcessFacts({ platform: process.platform, runner }),
          platform: process.platform,
          deadline_ms: TMUX_MS,
        });
  return {
    ...{ host: settings.host_id, clock, logger, files, ...poller },
    newNonce,
    // The poller may have ended after it gave the text.
    give: async (message) =>
      poller.give(message).catch((error) => ({ kind: 'unknown', detail: messageOf(error) })),
    store: options.store,
    ledger: options.ledger,
    mailbox: new ContextMailbox(dataPaths(settings).messages_dir),
    async open({ harness, native_id }, { id }) {
      const place = { folder: dataPaths(settings).session_sockets_dir, session: native_id, terminal: id };
      return (await HARNESSES[harness].message_way?.open(place)) ?? null;
    },
    async screen({ harness }, terminal) {
      const text = (await panes?.screen(terminal.pane)) ?? null;
      return text === null ? null : HARNESSES[harness].messages.readScreen(text);
    },
    type: async (terminal, text) =>
      panes === null ? { kind: 'gone' } : await panes.paste(terminal.pane, text),
    async composer({ harness }, terminal, text) {
      const program = HARNESSES[harness].messages;
      const screen = program.holdsText === undefined ? null : ((await panes?.screen(terminal.pane)) ?? null);
      return composerShows(program, screen, text);
    },
    pressEnter: async (terminal) => (await panes?.pressEnter(terminal.pane)) ?? false,
    async sizeOf(transcript) {
      if (transcript === null) return 0;
      try {
        return (await statForeign(transcript)).size;
      } catch (error) {
        if (systemCode(error) === 'ENOENT') return 0;
        throw error;
      }
    },
    async evidence({ harness }, { transcript, offset }, { wake, ...framed }) {
      const marker = markerOf(framed);
      const { stageOf, contextOf } = HARNESSES[harness].messages;
      const records = await recordsFrom(transcript, offset, marker);
      if (wake) return stageOf(records, marker);
      return records.some((record) => hasMessage(contextOf(record) ?? '', marker)) ? 'context_added' : null;
    },
  };
}
