import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { ReceiptStatus } from '../../src/contract/http/messages.ts';
import type { MessageTarget } from '../../src/contract/threads/message-target.ts';
import type { InputScreen } from '../../src/harness/harness.ts';
import { MessageStore } from '../../src/messages/message-store.ts';
import {
  type DeliveryLimits,
  type DeliveryWorld,
  MessagesService,
} from '../../src/messages/messages-service.ts';

export const ADDRESS = 'svc://here/claude/s-1';

export const RUNNING: MessageTarget = {
  kind: 'running',
  fiber_id: 'work/loader',
  uid: '01K00000000000000000000000',
  surface: 'cli',
  mux: { id: '$1', name: 'loader-svc' },
  transcript: '/transcript.jsonl',
};

/** A session whose terminal, transcript and death a test decides; the store is real. */
export class FakeSession {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-messages-'));
  target: MessageTarget | Error = RUNNING;
  screen: InputScreen | null = 'ready';
  /** Texts that the terminal was given. */
  typed: string[] = [];
  outcome: { kind: 'pasted' | 'gone' } | { kind: 'unknown'; detail: string } = { kind: 'pasted' };
  /** What the transcript proves of a text that was given. */
  stage: ReceiptStatus | null = 'submitted';
  /** Called before and after a text is given; what it throws ends the daemon there. */
  crash: (moment: 'before' | 'after') => void = () => {};

  world(): DeliveryWorld {
    return {
      host: 'here',
      clock: systemClock,
      logger: silentLogger,
      store: new MessageStore(join(this.folder, 'messages')),
      target: async () => {
        if (this.target instanceof Error) throw this.target;
        return this.target;
      },
      screen: async () => this.screen,
      type: async (_terminal, text) => {
        this.crash('before');
        if (this.outcome.kind !== 'gone') this.typed.push(text);
        this.crash('after');
        return this.outcome;
      },
      sizeOf: async () => 0,
      evidence: async (_address, _place, id) =>
        this.typed.some((text) => text.startsWith(`[message ${id} from `)) ? this.stage : null,
    };
  }

  /** A daemon on the folder; one after the other. */
  service(limits: Partial<DeliveryLimits> = {}): MessagesService {
    return new MessagesService(this.world(), { observe: 0, recheck: 0, hold: 60_000, pair: 20, ...limits });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function message(message_id: string, more: { text?: string; address?: string; wake?: boolean } = {}) {
  return { address: ADDRESS, text: 'Look at the last commit.', from: 'ada', wake: true, message_id, ...more };
}
