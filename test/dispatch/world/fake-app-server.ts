import { CodedError } from '../../../src/base/errors.ts';
import type {
  AppServer,
  ConversationLook,
  ConversationSettings,
} from '../../../src/harness/app-server/app-server.ts';
import type { AppConversation, AppPhase } from '../../../src/harness/app-server/conversation.ts';
import type { AppTurn } from '../../../src/harness/app-server/turn.ts';

/** One conversation; without a message it is only in the server's memory. */
export type FakeConversation = AppConversation & {
  settings: ConversationSettings | null;
  messages: { id: string; text: string }[];
  loaded: boolean;
  last_turn: AppTurn | null;
};

/** What the next request of a kind meets. */
export type AppFault = 'down' | 'silent_and_undone' | 'silent_but_done';

/** An imagined app server that lives on while daemons come and go. */
export class FakeAppServer {
  up = true;
  conversations: FakeConversation[] = [];
  interrupts: string[] = [];
  /** Faults of the next `start` or `send`. */
  faults: Partial<Record<'start' | 'send', AppFault>> = {};
  asked: string[] = [];
  #ids = 0;

  /** Conversations in which something was said. */
  get spoken(): FakeConversation[] {
    return this.conversations.filter((one) => one.messages.length > 0);
  }

  /** One that a person began at the app. */
  add(change: Partial<FakeConversation> = {}): FakeConversation {
    this.#ids += 1;
    const thread_id = `01a10000-0000-7000-8000-${String(this.#ids).padStart(12, '0')}`;
    const conversation: FakeConversation = {
      thread_id,
      transcript_session_uuid: thread_id,
      project_id: '/srv/dev',
      project_dir: '/srv/dev',
      source: null,
      loaded: true,
      phase: 'waiting',
      updated_at: 0,
      settings: null,
      messages: [],
      last_turn: null,
      ...change,
    };
    this.conversations.push(conversation);
    return conversation;
  }

  only(): FakeConversation {
    const [one, ...more] = this.conversations;
    if (one === undefined || more.length > 0) throw new Error(`${this.conversations.length} conversations`);
    return one;
  }

  phase(thread_id: string, phase: AppPhase): void {
    const one = this.#known(thread_id);
    if (one !== undefined) one.phase = phase;
  }

  /** What was said is stored; what is empty is lost. */
  restart(): void {
    this.conversations = this.spoken;
    for (const one of this.conversations) Object.assign(one, { loaded: false, phase: 'waiting' });
    this.up = true;
  }

  forget(thread_id: string): void {
    this.conversations = this.conversations.filter((one) => one.thread_id !== thread_id);
  }

  port(guard: (step: string) => void, afterwards: (step: string) => void): AppServer {
    const answer = <T>(what: string, give: () => T): T => {
      this.asked.push(what);
      if (!this.up) throw unavailable(false);
      return give();
    };
    const act = <T>(what: 'start' | 'send', give: () => T): T => {
      guard(what);
      const fault = this.faults[what];
      delete this.faults[what];
      if (fault === 'down') throw unavailable(false);
      if (fault === 'silent_and_undone') throw unavailable(true);
      const given = answer(what, give);
      afterwards(`${what} is done`);
      if (fault === 'silent_but_done') throw unavailable(true);
      return given;
    };
    const look = (thread_id: string): ConversationLook => {
      const known = this.#known(thread_id);
      return known === undefined ? { kind: 'missing' } : { kind: 'found', conversation: { ...known } };
    };
    return {
      reachable: async () => answer('reachable', () => undefined),
      start: async (settings, source) =>
        act('start', () => ({ ...this.add({ settings, source, project_dir: settings.project_dir }) })),
      find: async (source) =>
        answer('find', () => this.conversations.find((one) => one.loaded && one.source === source) ?? null),
      look: async (thread_id) => answer('look', () => look(thread_id)),
      load: async (thread_id, settings) =>
        answer('load', () => {
          const known = this.#known(thread_id);
          if (known !== undefined) Object.assign(known, { loaded: true, settings });
          return look(thread_id);
        }),
      send: async (thread_id, { id, text }) =>
        act('send', () => {
          const known = this.#known(thread_id);
          if (known === undefined) throw new Error(`no conversation ${thread_id}`);
          known.messages.push({ id, text });
          known.phase = 'working';
        }),
      messageStage: async (thread_id, id) =>
        answer('messageStage', () =>
          this.#known(thread_id)?.messages.some((one) => one.id === id) ? 'submitted' : null,
        ),
      lastTurn: async (thread_id) => answer('lastTurn', () => this.#known(thread_id)?.last_turn ?? null),
      interrupt: async (thread_id) =>
        answer('interrupt', () => {
          guard('interrupt');
          if (this.#known(thread_id)?.phase !== 'working') return;
          this.interrupts.push(thread_id);
          this.phase(thread_id, 'waiting');
        }),
      onChange: () => () => {},
      close: () => {},
    };
  }

  #known(thread_id: string): FakeConversation | undefined {
    return this.conversations.find((one) => one.thread_id === thread_id);
  }
}

function unavailable(sent: boolean): CodedError {
  return new CodedError('app_server_unavailable', 'the app server does not answer', { details: { sent } });
}
