import { bodyOf, titleOf } from './task-text.ts';
import type { AgentsReply, CaptureRequest, CreateFiber, MeetingMode, StoreOrigin, Surface } from './wire.ts';

/** `stash` files a draft; `capture` gives the text to a worker at once. */
export type TaskKind = 'stash' | 'capture';

/** What a reader has entered of a task that is not sent yet. An empty text leaves the choice to the daemon. */
export type TaskDraft = {
  text: string;
  host: string;
  project: string;
  store: string;
  agent: string;
  effort: string;
  surface: Surface;
  /** What a capture records a meeting of; empty for none. */
  meeting: MeetingMode | '';
};

export const EMPTY_TASK: TaskDraft = {
  text: '',
  host: '',
  project: '',
  store: '',
  agent: '',
  effort: '',
  surface: 'cli',
  meeting: '',
};

/** The fields that a refusal can be about. */
export type TaskField =
  | 'text'
  | 'project'
  | 'store'
  | 'agent'
  | 'effort'
  | 'surface'
  | 'pictures'
  | 'meeting';

/** A draft as it was kept, whatever that is. */
export function parseTask(kept: unknown): TaskDraft {
  const found = (kept ?? {}) as Partial<Record<keyof TaskDraft, unknown>>;
  const text = (key: keyof TaskDraft) => (typeof found[key] === 'string' ? found[key] : '');
  return {
    text: text('text'),
    host: text('host'),
    project: text('project'),
    store: text('store'),
    agent: text('agent'),
    effort: text('effort'),
    surface: found.surface === 'app' ? 'app' : 'cli',
    // A recording is chosen again each time.
    meeting: '',
  };
}

/** What the next task begins with: where this one went to. */
export function nextTask({ host, project, store }: TaskDraft): TaskDraft {
  return { ...EMPTY_TASK, host, project, store };
}

/** The folders that a task can be for: projects first, then stores, and one that was named by hand. */
export function projectChoices(
  origin: Pick<StoreOrigin, 'projects' | 'stores'> | undefined,
  chosen: string,
): string[] {
  const known = [...(origin?.projects ?? []), ...(origin?.stores ?? [])];
  return [...new Set(chosen === '' || known.includes(chosen) ? known : [chosen, ...known])];
}

/** The store that the document goes to: the one that was chosen, the one of its project, or the first. */
export function storeOf(
  stores: readonly string[],
  { store, project }: Pick<TaskDraft, 'store' | 'project'>,
): string {
  if (stores.includes(store)) return store;
  const around = stores.filter((root) => project === root || project.startsWith(`${root}/`));
  return around.toSorted((a, b) => b.length - a.length)[0] ?? stores[0] ?? '';
}

/** The efforts of the agent that the draft names, or of the default one. */
export function effortsOf(
  agents: AgentsReply | undefined,
  { agent }: TaskDraft,
): { levels: readonly string[]; usual: string | null } {
  const id = agent === '' ? agents?.default : agent;
  const found = agents?.agents.find((one) => one.id === id);
  return { levels: found?.effort_levels ?? [], usual: found?.default_effort ?? null };
}

/** `POST /fiber/create` for a draft; `host` is the host that is to work on it. */
export function createRequest(task: TaskDraft, host: string, store: string, slug?: string): CreateFiber {
  const { text, project, agent, effort, surface } = task;
  const body = bodyOf(text);
  const armed = project !== '' || agent !== '' || effort !== '' || surface !== 'cli';
  const svc = {
    kind: 'oneshot' as const,
    host,
    ...named('project_dir', project),
    ...named('agent', agent),
    ...named('effort', effort),
    ...(surface === 'cli' ? {} : { surface }),
  };
  return {
    name: titleOf(text),
    ...named('slug', slug ?? ''),
    ...named('store', store),
    ...(body === '' ? {} : { body }),
    ...(armed ? { svc } : {}),
    ...originOf(task),
  };
}

/** `POST /capture` for a draft. */
export function captureRequest(task: TaskDraft, store: string): CaptureRequest {
  const { text, project, agent, effort, surface, meeting } = task;
  const recorded = meeting === '' ? {} : { meeting: { mode: meeting } };
  return {
    // A meeting needs no text, and its worker runs in a terminal.
    ...(meeting !== '' && text.trim() === '' ? {} : { prompt: text.trim() }),
    project_dir: project,
    ...recorded,
    ...named('agent', agent),
    ...named('effort', effort),
    ...named('store', store),
    ...(surface === 'cli' || meeting !== '' ? {} : { surface }),
    ...originOf(task),
  };
}

/** The member that names another host than that of the page; empty for its own. */
export function originOf({ host }: Pick<TaskDraft, 'host'>): { origin?: string } {
  return named('origin', host);
}

function named<K extends string>(key: K, value: string): { [key in K]?: string } {
  return value === '' ? {} : ({ [key]: value } as { [key in K]: string });
}

const FIELD_OF_CODE: Readonly<Record<string, TaskField>> = {
  project_dir_missing: 'project',
  project_dir_unreachable: 'project',
  project_dir_in_store: 'project',
  not_a_directory: 'project',
  agent_unknown: 'agent',
  agent_unavailable: 'agent',
  effort_unknown: 'effort',
  surface_unsupported: 'surface',
  app_server_unavailable: 'surface',
  store_not_found: 'store',
  store_unavailable: 'store',
};

const FIELD_OF_MEMBER: Readonly<Record<string, TaskField>> = {
  name: 'text',
  body: 'text',
  prompt: 'text',
  project_dir: 'project',
  svc: 'project',
  store: 'store',
  agent: 'agent',
  effort: 'effort',
  surface: 'surface',
  attachments: 'pictures',
  meeting: 'meeting',
};

/** The field that a refusal is about, by its code and the member of the request that it names; null for none. */
export function fieldOf({ code, message }: { code: string; message: string }): TaskField | null {
  if (code.startsWith('attachment_')) return 'pictures';
  const field = FIELD_OF_CODE[code];
  if (field !== undefined) return field;
  if (code !== 'invalid_request') return null;
  if (message.startsWith('name the store')) return 'store';
  return FIELD_OF_MEMBER[/^[a-z_]+/.exec(message)?.[0] ?? ''] ?? null;
}

/** The body of a fiber with its pictures, each as the workers are told of it. */
export function withPictures(body: string, paths: readonly string[]): string {
  const lines = paths.map((path) => `[Image: ${path}]`).join('\n');
  if (lines === '') return body;
  return body === '' ? `${lines}\n` : `${body.trimEnd()}\n\n${lines}\n`;
}
