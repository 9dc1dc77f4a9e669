import { describe, expect, it } from 'vitest';
import { FIELD_LIMITS, WRITE_LIMITS } from '../../../src/contract/document-limits.ts';
import { captureRequestSchema } from '../../../src/contract/http/capture.ts';
import { dispatchRequestSchema } from '../../../src/contract/http/dispatch.ts';
import { createFiberSchema, editFiberSchema } from '../../../src/contract/http/fibers.ts';
import { lifecycleRequestSchema } from '../../../src/contract/http/lifecycle.ts';

const text = (chars: number) => 'x'.repeat(chars);
const list = (count: number, entry: unknown = 't') => Array.from({ length: count }, () => entry);
const keys = (count: number, value: unknown = 1) =>
  Object.fromEntries(list(count).map((_, nth) => [`k${nth}`, value]));
function nested(deep: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < deep; level += 1) value = [value];
  return value;
}

const edit = { fiber_id: 'a' };
const create = { name: 'a' };
const capture = { project_dir: '/srv' };
const close = { action: 'close', fiber: 'a' };
const install = { action: 'install', fiber: 'a' };

describe('a write request', () => {
  it.each([
    ['set keys', editFiberSchema, edit, 'set', keys(WRITE_LIMITS.set_keys), keys(WRITE_LIMITS.set_keys + 1)],
    ['a set value of depth', editFiberSchema, edit, 'set', { a: nested(31) }, { a: nested(32) }],
    ['a set value of millions', editFiberSchema, edit, 'set', { a: list(9_990) }, { a: nested(100_000) }],
    ['a set value of text', editFiberSchema, edit, 'set', { a: text(262_143) }, { a: text(262_144) }],
    [
      'unset keys',
      editFiberSchema,
      edit,
      'unset',
      list(WRITE_LIMITS.unset_keys),
      list(WRITE_LIMITS.unset_keys + 1),
    ],
    [
      'an unset path',
      editFiberSchema,
      edit,
      'unset',
      [text(WRITE_LIMITS.path_chars)],
      [text(WRITE_LIMITS.path_chars + 1)],
    ],
    ['tags', editFiberSchema, edit, 'tags', list(FIELD_LIMITS.tags), list(FIELD_LIMITS.tags + 1)],
    [
      'a tag',
      editFiberSchema,
      edit,
      'tags',
      [text(FIELD_LIMITS.tag_chars)],
      [text(FIELD_LIMITS.tag_chars + 1)],
    ],
    [
      'an outcome',
      editFiberSchema,
      edit,
      'outcome',
      text(FIELD_LIMITS.outcome_chars),
      text(FIELD_LIMITS.outcome_chars + 1),
    ],
    [
      'roles',
      editFiberSchema,
      edit,
      'collaboration',
      keys(FIELD_LIMITS.roles, []),
      keys(FIELD_LIMITS.roles + 1, []),
    ],
    [
      'a body',
      createFiberSchema,
      create,
      'body',
      text(WRITE_LIMITS.body_chars),
      text(WRITE_LIMITS.body_chars + 1),
    ],
    ['new tags', createFiberSchema, create, 'tags', list(FIELD_LIMITS.tags), list(FIELD_LIMITS.tags + 1)],
    ['a block', createFiberSchema, create, 'svc', { x: nested(31) }, { x: nested(32) }],
    ['a parent', createFiberSchema, create, 'parent', text(4_096), text(4_097)],
    ['an agent', lifecycleRequestSchema, install, 'agent', text(4_096), text(4_097)],
    [
      'agents at a limit',
      lifecycleRequestSchema,
      { action: 'reshape', fiber: 'a' },
      'on_limit',
      list(FIELD_LIMITS.on_limit),
      list(FIELD_LIMITS.on_limit + 1),
    ],
    [
      'a last outcome',
      lifecycleRequestSchema,
      close,
      'outcome',
      text(FIELD_LIMITS.outcome_chars),
      text(FIELD_LIMITS.outcome_chars + 1),
    ],
    [
      'a prompt',
      captureRequestSchema,
      capture,
      'prompt',
      text(WRITE_LIMITS.prompt_chars),
      text(WRITE_LIMITS.prompt_chars + 1),
    ],
    [
      'a message',
      dispatchRequestSchema,
      edit,
      'user_message',
      text(WRITE_LIMITS.prompt_chars),
      text(WRITE_LIMITS.prompt_chars + 1),
    ],
  ])('accepts %s at the limit and refuses one above', (_what, schema, rest, field, most, over) => {
    expect(schema.safeParse({ ...rest, [field]: most }).error).toBeUndefined();
    expect(schema.safeParse({ ...rest, [field]: over }).success).toBe(false);
  });
});
