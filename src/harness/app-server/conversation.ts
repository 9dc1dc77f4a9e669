import { z } from 'zod';

/** What an app conversation is doing, as the board shows it (APP-1). */
const APP_PHASES = ['working', 'waiting', 'attention', 'unknown'] as const;
export type AppPhase = (typeof APP_PHASES)[number];

const statusSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('notLoaded') }),
  z.object({ type: z.literal('idle') }),
  z.object({ type: z.literal('systemError') }),
  z.object({ type: z.literal('active'), activeFlags: z.array(z.string()) }),
]);
export type ThreadStatus = z.infer<typeof statusSchema>;

/** The fields of a thread that we use, as the app server reports them. */
export const threadSchema = z.object({
  id: z.string(),
  sessionId: z.string().nullish(),
  projectId: z.string().nullish(),
  threadSource: z.string().nullish(),
  status: statusSchema,
  path: z.string().nullish(),
  cwd: z.string(),
  /** Seconds since the Unix epoch. */
  updatedAt: z.number(),
});
type Thread = z.infer<typeof threadSchema>;

/** An app conversation with its identities (WRK-4 to WRK-6). */
export type AppConversation = {
  thread_id: string;
  /** Identity of its transcript, which may differ from the thread id. */
  transcript_session_uuid: string;
  /** The project that the server assigned; by default the working directory, which is the server's project key. */
  project_id: string;
  project_dir: string;
  /** The mark set by its creator; null if a person began it. */
  source: string | null;
  /** False if the server has stored the conversation but not loaded it. */
  loaded: boolean;
  phase: AppPhase;
  /** Milliseconds since the Unix epoch. */
  updated_at: number;
};

export function conversationOf(thread: Thread): AppConversation {
  return {
    thread_id: thread.id,
    transcript_session_uuid: transcriptIdOf(thread.path ?? null) ?? thread.sessionId ?? thread.id,
    project_id: thread.projectId ?? thread.cwd,
    project_dir: thread.cwd,
    source: thread.threadSource ?? null,
    loaded: thread.status.type !== 'notLoaded',
    phase: phaseOf(thread.status),
    updated_at: Math.floor(thread.updatedAt * 1000),
  };
}

/** A conversation that is stored but not loaded waits for its next message, as an idle one does. */
export function phaseOf(status: ThreadStatus): AppPhase {
  switch (status.type) {
    case 'active':
      return status.activeFlags.length === 0 ? 'working' : 'attention';
    case 'systemError':
      return 'attention';
    case 'idle':
    case 'notLoaded':
      return 'waiting';
  }
}

/** The id in a rollout's name: `rollout-<time>-<uuid>.jsonl`. */
function transcriptIdOf(path: string | null): string | null {
  const found = /rollout-[^/]*?-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/i.exec(path ?? '');
  return found?.[1] ?? null;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** True for an id that can name a conversation of an app server. */
export function isThreadId(text: string): boolean {
  return UUID.test(text);
}

/** The desktop app's link to a conversation (WRK-7); null if the link would be invalid. */
export function desktopLink(scheme: string, thread_id: string): string | null {
  return /^[a-z][a-z0-9+.-]*$/.test(scheme) && isThreadId(thread_id)
    ? `${scheme}://threads/${thread_id}`
    : null;
}
