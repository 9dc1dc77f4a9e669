import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import { CodedError } from '../../base/errors.ts';
import type { AppServerAddress } from '../../config/app-server-address.ts';
import { AppServerConnection, AppServerRefusal } from './connection.ts';
import { type AppConversation, conversationOf, isThreadId, threadSchema } from './conversation.ts';

/** How a conversation runs. Null leaves it to the operator's own configuration of the app server. */
export type ConversationSettings = {
  project_dir: string;
  model: string | null;
  effort: string | null;
  approval: string | null;
  sandbox: string | null;
  /** What the shells of the conversation get on top of their own environment. */
  env: Record<string, string>;
};

/** `missing` only after the server was asked to read and then to load that very thread and knows neither (P15). */
export type ConversationLook = { kind: 'found'; conversation: AppConversation } | { kind: 'missing' };

/**
 * The operator's running app server. Every method throws `app_server_unavailable` when it cannot be asked, with
 * `details.sent` true when it may have done what it was asked, and AppServerRefusal when it says no.
 */
export type AppServer = {
  /** Resolves when it answers now. */
  reachable(): Promise<void>;
  /** Begins a conversation in which nothing is said yet; `source` marks it as ours. */
  start(settings: ConversationSettings, source: string): Promise<AppConversation>;
  /** The open conversation with this mark; null when the server has none. */
  find(source: string): Promise<AppConversation | null>;
  look(thread_id: string): Promise<ConversationLook>;
  /** Opens a stored conversation, so that a turn can be started in it. */
  load(thread_id: string, settings: ConversationSettings): Promise<ConversationLook>;
  /** Starts a turn; resolves when the server has taken the message. */
  send(thread_id: string, message: { id: string; text: string; effort: string | null }): Promise<void>;
  /** True when one of the latest turns began with the message of this id. */
  hasMessage(thread_id: string, message_id: string): Promise<boolean>;
  /** Ends the running turn; nothing to do in an idle conversation. */
  interrupt(thread_id: string): Promise<void>;
  /** Calls `run` when some conversation moved or the connection was lost; gives the way to stop that. */
  onChange(run: () => void): () => void;
  close(): void;
};

const threadReplySchema = z.object({ thread: threadSchema });
const loadedSchema = z.object({ data: z.array(z.string()) });
const turnsSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      status: z.string(),
      items: z.array(z.looseObject({ type: z.string(), clientId: z.string().nullish() })),
    }),
  ),
});

/** Turns that are looked through for a message of ours: it began the latest one or a person was very quick. */
const LATEST_TURNS = 20;
const CHANGES = new Set(['thread/status/changed', 'thread/started', 'thread/closed', 'connection/lost']);

/** Connects to the app server at this address when it is first asked. */
export function createAppServer(options: { address: AppServerAddress; clock: Clock }): AppServer {
  const listeners = new Set<() => void>();
  const connection = new AppServerConnection({
    ...options,
    onNotice(method) {
      if (CHANGES.has(method)) for (const listener of listeners) listener();
    },
  });

  const ask = async <T>(
    schema: z.ZodType<T>,
    method: string,
    params: unknown,
    how: { at_once?: boolean } = {},
  ): Promise<T> => {
    const answer = schema.safeParse(await connection.request(method, params, how));
    if (answer.success) return answer.data;
    throw new CodedError(
      'app_server_unavailable',
      `the app server at ${options.address.text} answered ${method} in a form that is not understood; is it another version?`,
      { details: { sent: true } },
    );
  };

  const read = async (thread_id: string): Promise<AppConversation | null> => {
    try {
      const { thread } = await ask(threadReplySchema, 'thread/read', { threadId: thread_id });
      return thread.id === thread_id ? conversationOf(thread) : null;
    } catch (error) {
      if (isNoSuchThread(error)) return null;
      throw error;
    }
  };

  const resume = async (thread_id: string, settings: Record<string, unknown>): Promise<ConversationLook> => {
    try {
      const params = { ...settings, threadId: thread_id, excludeTurns: true };
      const { thread } = await ask(threadReplySchema, 'thread/resume', params);
      return thread.id === thread_id
        ? { kind: 'found', conversation: conversationOf(thread) }
        : { kind: 'missing' };
    } catch (error) {
      if (isNoSuchThread(error)) return { kind: 'missing' };
      throw error;
    }
  };

  const turns = async (thread_id: string, limit: number) => {
    try {
      return (await ask(turnsSchema, 'thread/turns/list', { threadId: thread_id, limit })).data;
    } catch (error) {
      // Before the first message there is nothing to list.
      if (error instanceof AppServerRefusal && /not materialized/.test(error.message)) return [];
      throw error;
    }
  };

  return {
    async reachable() {
      await ask(loadedSchema, 'thread/loaded/list', {}, { at_once: true });
    },
    async start(settings, source) {
      const params = { ...threadParams(settings), threadSource: source };
      const { thread } = await ask(threadReplySchema, 'thread/start', params, { at_once: true });
      return conversationOf(thread);
    },
    async find(source) {
      const { data } = await ask(loadedSchema, 'thread/loaded/list', {});
      for (const thread_id of data) {
        const conversation = await read(thread_id);
        if (conversation?.source === source) return conversation;
      }
      return null;
    },
    async look(thread_id) {
      if (!isThreadId(thread_id)) return { kind: 'missing' };
      const conversation = await read(thread_id);
      return conversation === null ? resume(thread_id, {}) : { kind: 'found', conversation };
    },
    async load(thread_id, settings) {
      const conversation = await read(thread_id);
      // One that is open and has no message yet cannot be loaded, and need not be.
      if (conversation?.loaded === true && (await turns(thread_id, 1)).length === 0)
        return { kind: 'found', conversation };
      return resume(thread_id, threadParams(settings));
    },
    async send(thread_id, { id, text, effort }) {
      await ask(z.object({ turn: z.object({ id: z.string() }) }), 'turn/start', {
        threadId: thread_id,
        clientUserMessageId: id,
        input: [{ type: 'text', text, text_elements: [] }],
        ...(effort === null ? {} : { effort }),
      });
    },
    async hasMessage(thread_id, message_id) {
      const latest = await turns(thread_id, LATEST_TURNS);
      return latest.some((turn) => turn.items.some((item) => item.clientId === message_id));
    },
    async interrupt(thread_id) {
      const [latest] = await turns(thread_id, 1);
      if (latest?.status !== 'inProgress') return;
      try {
        await ask(z.unknown(), 'turn/interrupt', { threadId: thread_id, turnId: latest.id });
      } catch (error) {
        // It came to its end by itself meanwhile.
        if (!(error instanceof AppServerRefusal && /no active turn/.test(error.message))) throw error;
      }
    },
    onChange(run) {
      listeners.add(run);
      return () => void listeners.delete(run);
    },
    close: () => connection.close(),
  };
}

function isNoSuchThread(error: unknown): boolean {
  return (
    error instanceof AppServerRefusal &&
    /^(thread not loaded|thread not found|no rollout found)/.test(error.message)
  );
}

function threadParams(settings: ConversationSettings): Record<string, unknown> {
  const { project_dir, model, effort, approval, sandbox, env } = settings;
  const config: Record<string, unknown> = {
    // A login shell would set PATH anew, and `svc` would not be on it.
    allow_login_shell: false,
    ...(effort === null ? {} : { model_reasoning_effort: effort }),
  };
  for (const [name, value] of Object.entries(env)) config[`shell_environment_policy.set.${name}`] = value;
  return {
    cwd: project_dir,
    ...(model === null ? {} : { model }),
    ...(approval === null ? {} : { approvalPolicy: approval }),
    ...(sandbox === null ? {} : { sandbox }),
    config,
  };
}
