import { type Answer, type Asking, isUnsure } from '../lib/api.ts';
import { fiberPath, pathAt, STATE_PATH } from '../lib/paths.ts';
import type { EncodedPicture } from '../model/picture-rules.ts';
import {
  captureRequest,
  createRequest,
  originOf,
  type TaskDraft,
  type TaskKind,
  withPictures,
} from '../model/task.ts';
import { bodyOf, titleOf } from '../model/task-text.ts';
import type {
  AttachmentsReply,
  Captured,
  Composite,
  Dispatched,
  FiberReply,
  Rehearsal,
  State,
} from '../model/wire.ts';

/** The daemon, as `lib/api.ts` reaches it. */
export type Api = {
  get<T>(path: string): Promise<Answer<T>>;
  post<T>(path: string, body: unknown, asking?: Omit<Asking, 'body'>): Promise<Answer<T>>;
};

/** How far a task came that could not be sent whole; the next attempt goes on from here. */
export type Progress = {
  /** When a request was sent whose answer did not come, in milliseconds since the Unix epoch; null for none. */
  unsure_since: number | null;
  /** The document that was made of it, whose pictures or worker are still to come. */
  filed: { id: string; digest: string } | null;
};

export const NO_PROGRESS: Progress = { unsure_since: null, filed: null };

export type Task = {
  kind: TaskKind;
  draft: TaskDraft;
  /** The host that is to work on it, by its id. */
  host: string;
  store: string;
  pictures: readonly EncodedPicture[];
};

type Refused = Answer<unknown> & { ok: false };
type Refusal = Pick<Refused, 'code' | 'message'>;
export type Sent =
  /** Its document; `started` with a worker of its own. */
  | { kind: 'filed'; id: string; started: boolean }
  /** A worker was given the text and makes a fiber of it. */
  | { kind: 'captured'; run_id: string }
  | { kind: 'refused'; refusal: Refusal; progress: Progress };

/** Sending many megabytes over a slow line, in milliseconds (LIM-6). */
const PICTURES_MS = 120_000;
/** The starting of a worker takes this long at most. */
const START_MS = 60_000;
/** A capture of the same text this much before the clock of the page says is the same one. */
const CLOCKS_DIFFER_MS = 60_000;
const MOST_SLUGS = 8;
/** What a person saw who sends: the draft, which stands until it is sent. */
const DRAFT = 'task';

/** What the daemon would do with a capture: every check, and the worker that it would start. */
export function rehearse({ draft, store }: Task, api: Api): Promise<Answer<Rehearsal>> {
  return api.post<Rehearsal>('/capture', { ...captureRequest(draft, store), dry_run: true });
}

/**
 * Sends a task. No attempt after another one makes a second fiber or worker of it where the first did arrive. With
 * pictures a capture files the document first, since pictures belong to a fiber.
 */
export async function sendTask(task: Task, progress: Progress, api: Api, now: () => number): Promise<Sent> {
  if (task.kind === 'capture' && task.pictures.length === 0 && progress.filed === null)
    return capture(task, progress, api, now);
  const filed = progress.filed ?? (await file(task, progress, api));
  if ('code' in filed) return refused(filed, after(filed, progress, now));
  const going = { unsure_since: null, filed };
  // What was filed by an earlier attempt may have been another text.
  const complete = task.pictures.length === 0 && progress.filed === null;
  const refusal = complete ? null : await finish(task, filed, api);
  if (refusal !== null) return refused(refusal, going);
  if (task.kind === 'stash') return { kind: 'filed', id: filed.id, started: false };
  const launch = { fiber_id: filed.id, force: true, ...originOf(task.draft) };
  const started = await api.post<Dispatched>('/dispatch', launch, {
    timeout_ms: START_MS,
    seen: filed.digest,
  });
  return started.ok ? { kind: 'filed', id: filed.id, started: true } : refused(started, going);
}

type Filed = NonNullable<Progress['filed']>;

async function file(
  { draft, host, store }: Task,
  { unsure_since }: Progress,
  api: Api,
): Promise<Filed | Refused> {
  let slug: string | undefined;
  for (let tries = 0; ; tries += 1) {
    const request = createRequest(draft, host, store, slug);
    const answer = await api.post<FiberReply>('/fiber/create', request, { seen: DRAFT });
    if (answer.ok) return filedAs(answer.value.fiber);
    const taken =
      answer.code === 'already_exists' ? (answer.body as { id?: string; suggestion?: string }) : null;
    if (taken?.suggestion === undefined || taken.id === undefined || tries === MOST_SLUGS) return answer;
    if (unsure_since !== null) {
      const there = await api.get<FiberReply>(fiberPath(taken.id, hostOf(draft)));
      if (there.ok && isOf(there.value.fiber, draft)) return filedAs(there.value.fiber);
    }
    slug = taken.suggestion;
  }
}

function filedAs({ id, digest }: FiberReply['fiber']): Filed {
  return { id, digest };
}

function isOf({ name, body = '' }: FiberReply['fiber'], { text }: TaskDraft): boolean {
  return name === titleOf(text) && body.trim() === bodyOf(text);
}

/** Stores the pictures, and writes title and text with them into the document. */
async function finish({ draft, pictures }: Task, { id, digest }: Filed, api: Api): Promise<Refusal | null> {
  // The origin comes first, so that a batch for another host is passed on while it arrives.
  const batch = { ...originOf(draft), fiber: id, attachments: pictures };
  const stored =
    pictures.length === 0
      ? null
      : await api.post<AttachmentsReply>('/attachments', batch, { timeout_ms: PICTURES_MS });
  if (stored?.ok === false) return stored;
  const paths = stored?.value.files.map(({ path }) => path) ?? [];
  const written = { name: titleOf(draft.text), body: withPictures(bodyOf(draft.text), paths) };
  const edit = { fiber_id: id, ...written, expected_digest: digest, ...originOf(draft) };
  const edited = await api.post<FiberReply>('/fiber-edit', edit);
  if (edited.ok) return null;
  if (edited.code !== 'conflict') return edited;
  // An attempt whose answer was lost may have been the one that changed it.
  const there = await api.get<FiberReply>(fiberPath(id, hostOf(draft)));
  if (!there.ok) return edited;
  const { name, body = '' } = there.value.fiber;
  return name === written.name && body.trim() === written.body.trim() ? null : edited;
}

async function capture(
  { draft, store }: Task,
  progress: Progress,
  api: Api,
  now: () => number,
): Promise<Sent> {
  if (progress.unsure_since !== null) {
    const arrived = await findCapture(draft, progress.unsure_since, api);
    if (arrived !== null) return { kind: 'captured', run_id: arrived };
  }
  const asking = { timeout_ms: START_MS, seen: DRAFT };
  const answer = await api.post<Captured>('/capture', captureRequest(draft, store), asking);
  if (answer.ok) return { kind: 'captured', run_id: answer.value.run_id };
  return refused(answer, after(answer, progress, now));
}

/** The run of a capture of this very text, as the daemon knows it; null where it knows none. */
async function findCapture(draft: TaskDraft, since: number, api: Api): Promise<string | null> {
  const host = hostOf(draft);
  const state = await api.get<Composite<State>>(STATE_PATH);
  if (!state.ok) return null;
  const { captures = [] } = state.value.origins[host ?? state.value.host]?.read ?? {};
  for (const { captured_at, text_file, run_id } of captures) {
    if (text_file === null || captured_at < since - CLOCKS_DIFFER_MS) continue;
    const kept = await api.get<string>(pathAt(host, `/file?path=${encodeURIComponent(text_file)}`));
    if (kept.ok && typeof kept.value === 'string' && kept.value.trim() === draft.text.trim()) return run_id;
  }
  return null;
}

function after(answer: Refused, progress: Progress, now: () => number): Progress {
  return isUnsure(answer) ? { ...progress, unsure_since: progress.unsure_since ?? now() } : progress;
}

function refused({ code, message }: Refusal, progress: Progress): Sent {
  return { kind: 'refused', refusal: { code, message }, progress };
}

/** The host that a draft is for, as a path names it: null for the one that answers. */
function hostOf({ host }: TaskDraft): string | null {
  return host === '' ? null : host;
}
