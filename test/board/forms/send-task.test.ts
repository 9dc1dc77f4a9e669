import { describe, expect, it } from 'vitest';
import { type Api, NO_PROGRESS, sendTask, type Task } from '../../../board/src/forms/send-task.ts';
import type { Answer } from '../../../board/src/lib/api.ts';
import { EMPTY_TASK } from '../../../board/src/model/task.ts';
import { row } from '../model/rows.ts';

type Call = [path: string, body?: unknown];
type Reply = Answer<unknown>;

const ok = (value: unknown): Reply => ({ ok: true, status: 200, value, etag: null });
const no = (code: string, more: object = {}): Reply => ({
  ok: false,
  status: 409,
  code,
  message: `the sentence of ${code}`,
  body: { error: code, ...more },
});
const LOST: Reply = { ...no('no_answer'), status: 0 };

/** Answers each path with the next of its replies, and keeps what was asked. */
function daemon(replies: Record<string, Reply[]>): { api: Api; calls: Call[] } {
  const calls: Call[] = [];
  const next = (path: string) => {
    const reply = replies[path]?.shift();
    if (reply === undefined) throw new Error(`nobody expected ${path}`);
    return Promise.resolve(reply as Answer<never>);
  };
  return {
    calls,
    api: {
      get(path) {
        calls.push([path]);
        return next(path);
      },
      post(path, body) {
        calls.push([path, body]);
        return next(path);
      },
    },
  };
}

const NOW = 1_000_000;
const now = () => NOW;
const picture = { name: 'a.png', mime: 'image/png', data: '', sha256: '' };
const task = (of: Partial<Task>): Task => ({
  kind: 'stash',
  draft: { ...EMPTY_TASK, text: 'Idea\nMore' },
  host: 'host-a',
  store: '',
  pictures: [],
  ...of,
});
const fiber = (id: string, more: object = {}) =>
  ok({ fiber: { ...row({ id, name: 'Idea', digest: '0' }), ...more } });
const capture = (of: Partial<Task> = {}) =>
  task({ kind: 'capture', draft: { ...EMPTY_TASK, text: 'Idea\nMore', project: '/p' }, ...of });

describe('a task that is sent', () => {
  it('becomes one document, with a free slug where its own is taken', async () => {
    const taken = no('already_exists', { id: 'idea', suggestion: 'idea-2' });
    const { api, calls } = daemon({ '/fiber/create': [taken, fiber('idea-2')] });
    expect(await sendTask(task({}), NO_PROGRESS, api, now)).toEqual({
      kind: 'filed',
      id: 'idea-2',
      started: false,
    });
    expect(calls).toEqual([
      ['/fiber/create', { name: 'Idea', body: 'More' }],
      ['/fiber/create', { name: 'Idea', body: 'More', slug: 'idea-2' }],
    ]);
  });

  it('is not known to have arrived where no answer came, and is then found rather than made twice', async () => {
    const taken = no('already_exists', { id: 'idea', suggestion: 'idea-2' });
    const { api, calls } = daemon({
      '/fiber/create': [LOST, taken],
      '/fibers/idea': [fiber('idea', { body: 'More\n' })],
    });
    const first = await sendTask(task({}), NO_PROGRESS, api, now);
    expect(first).toMatchObject({ kind: 'refused', progress: { unsure_since: NOW, filed: null } });
    if (first.kind !== 'refused') return;
    expect(await sendTask(task({}), first.progress, api, now)).toMatchObject({ kind: 'filed', id: 'idea' });
    expect(calls.filter(([path]) => path === '/fiber/create')).toHaveLength(2);
  });

  it('takes no other fiber of the same slug for its own', async () => {
    const taken = no('already_exists', { id: 'idea', suggestion: 'idea-2' });
    const { api } = daemon({
      '/fiber/create': [taken, fiber('idea-2')],
      '/fibers/idea': [fiber('idea', { body: 'Another one' })],
    });
    const unsure = { unsure_since: NOW, filed: null };
    expect(await sendTask(task({}), unsure, api, now)).toMatchObject({ kind: 'filed', id: 'idea-2' });
  });

  it('gets its pictures before its worker, and goes on from where it was refused', async () => {
    const stored = ok({ files: [{ path: '/d/a.png' }] });
    const { api, calls } = daemon({
      '/fiber/create': [fiber('idea')],
      '/attachments': [no('attachment_decode'), stored],
      '/fiber-edit': [fiber('idea')],
      '/dispatch': [ok({ dispatched: true })],
    });
    const whole = capture({ pictures: [picture] });
    const first = await sendTask(whole, NO_PROGRESS, api, now);
    expect(first).toMatchObject({ kind: 'refused', progress: { filed: { id: 'idea', digest: '0' } } });
    if (first.kind !== 'refused') return;
    expect(await sendTask(whole, first.progress, api, now)).toEqual({
      kind: 'filed',
      id: 'idea',
      started: true,
    });
    expect(calls.map(([path]) => path)).toEqual([
      '/fiber/create',
      '/attachments',
      '/attachments',
      '/fiber-edit',
      '/dispatch',
    ]);
    expect(calls[3]?.[1]).toEqual({
      fiber_id: 'idea',
      name: 'Idea',
      body: 'More\n\n[Image: /d/a.png]\n',
      expected_digest: '0',
    });
  });

  it('leaves an edit of its document by somebody else alone', async () => {
    const { api } = daemon({
      '/attachments': [ok({ files: [{ path: '/d/a.png' }] })],
      '/fiber-edit': [no('conflict')],
      '/fibers/idea': [fiber('idea', { body: 'Theirs' })],
    });
    const filed = { unsure_since: null, filed: { id: 'idea', digest: '0' } };
    expect(await sendTask(task({ pictures: [picture] }), filed, api, now)).toMatchObject({
      kind: 'refused',
      refusal: { code: 'conflict' },
    });
  });
});

describe('a capture that is sent', () => {
  it('is given to a worker', async () => {
    const { api, calls } = daemon({ '/capture': [ok({ run_id: 'run-1' })] });
    expect(await sendTask(capture(), NO_PROGRESS, api, now)).toEqual({ kind: 'captured', run_id: 'run-1' });
    expect(calls).toEqual([['/capture', { prompt: 'Idea\nMore', project_dir: '/p' }]]);
  });

  const known = (text: string) => ({
    '/state/composite': [
      ok({
        host: 'harbor',
        origins: {
          harbor: { read: { captures: [{ captured_at: NOW, text_file: '/d/text', run_id: 'run-1' }] } },
        },
      }),
    ],
    '/file?path=%2Fd%2Ftext': [ok(text)],
  });
  const unsure = { unsure_since: NOW, filed: null };

  it('is looked for before it is sent again', async () => {
    const { api } = daemon(known('Idea\nMore\n'));
    expect(await sendTask(capture(), unsure, api, now)).toEqual({ kind: 'captured', run_id: 'run-1' });
  });

  it('[RPL-10] is looked for on the host that it was for', async () => {
    const state = { captures: [{ captured_at: NOW, text_file: '/d/text', run_id: 'run-1' }] };
    const { api } = daemon({
      '/state/composite': [ok({ host: 'harbor', origins: { mesa: { read: state } } })],
      '/file?path=%2Fd%2Ftext&origin=mesa': [ok('Idea\nMore')],
    });
    const { draft } = capture();
    const sent = sendTask(capture({ draft: { ...draft, host: 'mesa' } }), unsure, api, now);
    expect(await sent).toEqual({ kind: 'captured', run_id: 'run-1' });
  });

  it('is sent again where the daemon knows only others', async () => {
    const { api, calls } = daemon({ ...known('Another idea'), '/capture': [ok({ run_id: 'run-2' })] });
    expect(await sendTask(capture(), unsure, api, now)).toEqual({ kind: 'captured', run_id: 'run-2' });
    expect(calls).toHaveLength(3);
  });
});
