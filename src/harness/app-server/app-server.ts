import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import { CodedError } from '../../base/errors.ts';
import type { AppServerAddress } from '../../config/app-server-address.ts';
import { AppServerConnection, AppServerRefusal } from './connection.ts';
import { type AppConversation, conversationOf, isThreadId, threadSchema } from './conversation.ts';
import { type AppTurn, type MessageStage, readTurn, stageInTurns, turnSchema } from './turn.ts';

/** How a conversation runs. Null: the app server's own configuration decides. */
export type ConversationSettings = {
  project_dir: string;
  model: string | null;
  effort: string | null;
  approval: string | null;
  sandbox: string | null;
  /** Variables added to the environment of the conversation's shells. */
  env: Record<string, string>;
};

/** `missing` only if the server could neither read nor load that thread (P15). */
export type ConversationLook = { kind: 'found'; conversation: AppConversation } | { kind: 'missing' };

/**
 * The operator's running app server. Every method throws `app_server_unavailable` if the server cannot be reached, with
 * `details.sent` true if the request may have been carried out, and AppServerRefusal if the server refuses.
 */
export type AppServer = {
  /** Resolves if the server answers now. */
  reachable(): Promise<void>;
  /** Creates an empty conversation; `source` marks it as ours. */
  start(settings: ConversationSettings, source: string): Promise<AppConversation>;
  /** The loaded conversation with this mark; null if there is none. */
  find(source: string): Promise<AppConversation | null>;
  look(thread_id: string): Promise<ConversationLook>;
  /** Loads a stored conversation, so that a turn can be started in it. */
  load(thread_id: string, settings: ConversationSettings): Promise<ConversationLook>;
  /** Starts a turn; resolves when the server has accepted the message. */
  send(thread_id: string, message: { id: string; text: string; effort: string | null }): Promise<void>;
  /** `accepted` if the agent said something after the message of this id; null if the latest turns do not have it. */
  messageStage(thread_id: string, message_id: string): Promise<MessageStage | null>;
  /** How the last turn stands; null if nothing was said in the conversation yet. */
  lastTurn(thread_id: string): Promise<AppTurn | null>;
  /** Interrupts the running turn; does nothing if there is none. */
  interrupt(thread_id: string): Promise<void>;
  /** Calls `run` when a conversation changed or the connection was lost; returns the function that unsubscribes. */
  onChange(run: () => void): () => void;
  close(): void;
};

const threadReplySchema = z.object({ thread: threadSchema });
const loadedSchema = z.object({ data: z.array(z.string()) });
const turnsSchema = z.object({ data: z.array(turnSchema) });

/** How many of the latest turns are searched for our message; a person may have added some after it. */
const LATEST_TURNS = 20;
/** How many of them are searched in full. */
const TURNS_IN_FULL = 2;
const CHANGES = new Set(['thread/status/changed', 'thread/started', 'thread/closed', 'connection/lost']);

/** An app server client; it connects at the first request. */
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
      `the app server at ${options.address.text} answered ${method} in an unknown format; update its program and restart it`,
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

  const turns = async (thread_id: string, limit: number, view: { itemsView?: 'full' } = {}) => {
    try {
      return (await ask(turnsSchema, 'thread/turns/list', { threadId: thread_id, limit, ...view })).data;
    } catch (error) {
      // Before the first message there are no turns to list.
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
      // A loaded conversation without a message cannot be loaded again and need not be.
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
    async messageStage(thread_id, message_id) {
      const begun = stageInTurns(await turns(thread_id, LATEST_TURNS), message_id);
      if (begun !== null) return begun;
      // A message that a running turn took in is in the full view alone, which may be large.
      return stageInTurns(await turns(thread_id, TURNS_IN_FULL, { itemsView: 'full' }), message_id);
    },
    async lastTurn(thread_id) {
      const [latest] = await turns(thread_id, 1);
      return latest === undefined ? null : readTurn(latest);
    },
    async interrupt(thread_id) {
      const [latest] = await turns(thread_id, 1);
      if (latest?.status !== 'inProgress') return;
      try {
        await ask(z.unknown(), 'turn/interrupt', { threadId: thread_id, turnId: latest.id });
      } catch (error) {
        // The turn ended before it could be interrupted.
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
    // A login shell would reset PATH, and `svc` might not be on it.
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
