import { describe, expect, it } from 'vitest';
import { PICTURE_RULES, PICTURE_TYPES, pictureFault } from '../../../board/src/model/picture-rules.ts';
import {
  captureRequest,
  createRequest,
  EMPTY_TASK,
  effortsOf,
  fieldOf,
  nextTask,
  parseTask,
  projectChoices,
  storeOf,
  type TaskDraft,
  withPictures,
} from '../../../board/src/model/task.ts';
import type { AgentsReply } from '../../../board/src/model/wire.ts';
import {
  IMAGE_ENDINGS,
  MOST_BATCH_BYTES,
  MOST_IMAGE_BYTES,
  MOST_IMAGES,
} from '../../../src/contract/http/attachments.ts';
import { captureRequestSchema } from '../../../src/contract/http/capture.ts';
import { createFiberSchema } from '../../../src/contract/http/fibers.ts';

const task = (of: Partial<TaskDraft>): TaskDraft => ({ ...EMPTY_TASK, ...of });

describe('what is sent of a task', () => {
  it('leaves out what was not chosen, and has no service block where nothing was', () => {
    expect(createRequest(task({ text: 'Idea' }), 'host-a', '')).toEqual({ name: 'Idea' });
  });

  it('names everything that was chosen, as the routes accept it', () => {
    const draft = task({
      text: 'Idea\n\nMore of it',
      host: 'host-b',
      project: '/srv/p',
      agent: 'atlas',
      effort: 'high',
      surface: 'app',
    });
    const create = createRequest(draft, 'host-b', '/srv/store', 'idea-2');
    expect(create).toEqual({
      name: 'Idea',
      slug: 'idea-2',
      store: '/srv/store',
      body: 'More of it',
      svc: {
        kind: 'oneshot',
        host: 'host-b',
        project_dir: '/srv/p',
        agent: 'atlas',
        effort: 'high',
        surface: 'app',
      },
      origin: 'host-b',
    });
    expect(createFiberSchema.parse(create)).toEqual(create);
    const capture = captureRequest(draft, '/srv/store');
    expect(capture).toEqual({
      prompt: 'Idea\n\nMore of it',
      project_dir: '/srv/p',
      agent: 'atlas',
      effort: 'high',
      store: '/srv/store',
      surface: 'app',
      origin: 'host-b',
    });
    expect(captureRequestSchema.parse(capture)).toEqual(capture);
  });

  it('tells its worker of pictures below the text', () => {
    expect(withPictures('', ['/a.png'])).toBe('[Image: /a.png]\n');
    expect(withPictures('Look.\n', ['/a.png', '/b.png'])).toBe('Look.\n\n[Image: /a.png]\n[Image: /b.png]\n');
    expect(withPictures('Look.', [])).toBe('Look.');
  });
});

describe('a task that is kept', () => {
  it('comes back as it was, and nothing else becomes one', () => {
    const draft = task({ text: 'Idea', project: '/p', surface: 'app' });
    expect(parseTask({ ...draft, meeting: 'phone' })).toEqual(draft);
    for (const other of [null, 7, 'Idea', { text: 7, surface: 'none' }])
      expect(parseTask(other)).toEqual(EMPTY_TASK);
  });

  it('leaves where it went to for the next one', () => {
    expect(nextTask(task({ text: 'Idea', project: '/p', agent: 'atlas' }))).toEqual(task({ project: '/p' }));
  });
});

describe('the choices of a task', () => {
  const origin = { projects: ['/p', '/s'], stores: ['/s', '/t'] };

  it('offers projects before stores, each once, with one that was named by hand', () => {
    expect(projectChoices(origin, '')).toEqual(['/p', '/s', '/t']);
    expect(projectChoices(origin, '/else')).toEqual(['/else', '/p', '/s', '/t']);
    expect(projectChoices(undefined, '')).toEqual([]);
  });

  it.each([
    [{ store: '/t' }, '/t'],
    [{ store: '/gone' }, '/s'],
    [{ project: '/t' }, '/t'],
    [{ project: '/t/deep/er' }, '/t/deep'],
    [{ project: '/tea' }, '/s'],
  ])('files %j in %s', (of, store) => {
    expect(storeOf(['/s', '/t', '/t/deep'], task(of))).toBe(store);
  });

  it('knows the efforts of the agent that is meant', () => {
    const agent = (id: string, effort_levels: string[], default_effort: string | null) =>
      ({ id, effort_levels, default_effort }) as AgentsReply['agents'][number];
    const agents = { default: 'a', agents: [agent('a', ['low', 'high'], 'low'), agent('b', [], null)] };
    expect(effortsOf(agents, EMPTY_TASK)).toEqual({ levels: ['low', 'high'], usual: 'low' });
    expect(effortsOf(agents, task({ agent: 'b' }))).toEqual({ levels: [], usual: null });
    expect(effortsOf(undefined, EMPTY_TASK)).toEqual({ levels: [], usual: null });
  });
});

describe('the field that a refusal stands beside', () => {
  it.each([
    ['project_dir_missing', 'the project folder /x does not exist', 'project'],
    ['effort_unknown', 'no such effort', 'effort'],
    ['attachment_size', 'too large', 'pictures'],
    ['invalid_request', 'name may not be empty.', 'text'],
    ['invalid_request', 'svc.agent must have at most 4096 characters.', 'project'],
    ['invalid_request', 'name the store; this daemon polls /a, /b', 'store'],
    ['invalid_request', 'prompt is empty; say in it what the fiber is about', 'text'],
    ['invalid_request', 'Something else.', null],
    ['tmux_server_unavailable', 'no tmux', null],
  ])('%s, %s', (code, message, field) => {
    expect(fieldOf({ code, message })).toBe(field);
  });
});

describe('the rules of pictures', () => {
  it('are those of the contract', () => {
    expect(PICTURE_TYPES).toEqual(Object.keys(IMAGE_ENDINGS));
    expect(PICTURE_RULES).toEqual({
      bytes: MOST_IMAGE_BYTES,
      count: MOST_IMAGES,
      total_bytes: MOST_BATCH_BYTES,
    });
  });

  const picture = (size: number, type = 'image/png') => ({ name: 'shot.png', type, size });
  it.each([
    [[picture(1, 'text/html')], 'not a picture'],
    [[picture(10_000_001)], '10.0 MB: a picture may have 10 MB'],
    [Array.from({ length: 9 }, () => picture(1)), 'at most 8'],
    [Array.from({ length: 3 }, () => picture(9_000_000)), 'at most 25 MB'],
  ])('refuse a batch in words: %#', (batch, words) => {
    expect(pictureFault(batch)).toContain(words);
  });

  it('let a batch pass that keeps to them', () => {
    expect(pictureFault(Array.from({ length: 8 }, () => picture(3_000_000)))).toBeNull();
  });
});
