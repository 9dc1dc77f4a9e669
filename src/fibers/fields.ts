import { FIELD_LIMITS } from '../contract/document-limits.ts';
import {
  FIBER_KINDS,
  FIBER_STATUSES,
  type FiberDocument,
  type Roster,
  type SvcBlock,
  type SvcRuntime,
  WHEN_FREE_AGAIN,
  WHEN_IDLE,
} from '../contract/fiber.ts';
import { SURFACES } from '../contract/surface.ts';
import { isUlid } from './fiber-id.ts';

/** The document fields that come from frontmatter. */
export type FrontmatterFields = Omit<FiberDocument, 'id' | 'leaf' | 'store' | 'path' | 'digest' | 'error'>;
/** The first key with an invalid value, and the error sentence. */
export type FieldProblem = { key: string; message: string };

const TEXT_KEYS = [
  ['created-at', 'created_at'],
  ['updated-at', 'updated_at'],
  ['closed-at', 'closed_at'],
  ['due', 'due'],
  ['horizon', 'horizon'],
  ['start', 'start'],
] as const;
const SVC_TEXT_KEYS = [
  ...['host', 'project_dir', 'agent', 'effort', 'schedule', 'tz', 'worktree', 'worktree_of'],
] as const;
const RUNTIME_TEXT_KEYS = [
  'dispatched_at',
  'handed_off_at',
  'session_uuid',
  'harness',
  'run_id',
  'thread_id',
  'meeting',
  'daemon',
] as const;

const TAGS = { most: FIELD_LIMITS.tags, chars: FIELD_LIMITS.tag_chars };
const ON_LIMIT = { most: FIELD_LIMITS.on_limit, chars: FIELD_LIMITS.text_chars };
const COLLABORATORS = { most: FIELD_LIMITS.collaborators, chars: FIELD_LIMITS.collaborator_chars };

/**
 * Maps frontmatter to document fields. A value of the wrong type is omitted and named in `problem` (an invalid status
 * reads as `open`, so that a typing error never arms a fiber).
 */
export function readFields(
  data: Record<string, unknown>,
  leaf: string,
): { fields: FrontmatterFields; problem: FieldProblem | null } {
  const reader = new FieldReader();
  const uid = reader.text(data, 'id');
  const fields: FrontmatterFields = {
    // A ULID has no case, and everything else compares uids as texts.
    uid: uid !== undefined && isUlid(uid) ? uid.toUpperCase() : null,
    name: readName(reader, data) ?? leaf,
    status: reader.oneOf(data, 'status', FIBER_STATUSES) ?? 'open',
    tags: reader.texts(data, 'tags', TAGS) ?? [],
  };
  assign(fields, 'tempered', reader.flag(data, 'tempered'));
  assign(fields, 'outcome', reader.text(data, 'outcome', FIELD_LIMITS.outcome_chars));
  for (const [key, field] of TEXT_KEYS) assign(fields, field, reader.text(data, key));
  assign(fields, 'collaboration', readRoster(reader, data));
  const svc = readSvc(reader, data);
  assign(fields, 'svc', svc);
  assign(fields, 'project_dir', svc?.project_dir ?? reader.text(data, 'project_dir'));
  return { fields, problem: reader.problem };
}

/** A blank name would leave nothing to call the fiber by, so it counts as none. */
function readName(reader: FieldReader, data: Record<string, unknown>): string | undefined {
  const name = reader.text(data, 'name', FIELD_LIMITS.name_chars);
  return name?.trim() === '' ? undefined : name;
}

function readSvc(reader: FieldReader, data: Record<string, unknown>): SvcBlock | undefined {
  const block = reader.map(data, 'svc');
  if (block === undefined) return undefined;
  const svc: SvcBlock = { ...block };
  const inner = reader.within('svc.');
  for (const key of SVC_TEXT_KEYS) replace(svc, key, inner.text(block, key));
  replace(svc, 'kind', inner.oneOf(block, 'kind', FIBER_KINDS));
  replace(svc, 'surface', inner.oneOf(block, 'surface', SURFACES));
  replace(svc, 'auto_accept', inner.flag(block, 'auto_accept'));
  replace(svc, 'after_limit', inner.oneOf(block, 'after_limit', WHEN_FREE_AGAIN));
  replace(svc, 'when_idle', inner.oneOf(block, 'when_idle', WHEN_IDLE));
  replace(svc, 'on_limit', inner.texts(block, 'on_limit', ON_LIMIT));
  const runtimeBlock = inner.map(block, 'runtime');
  if (runtimeBlock === undefined) delete svc.runtime;
  else {
    const runtime: SvcRuntime = { ...runtimeBlock };
    const deep = reader.within('svc.runtime.');
    for (const key of RUNTIME_TEXT_KEYS) replace(runtime, key, deep.text(runtimeBlock, key));
    const previous = deep.text(runtimeBlock, 'previous_outcome', FIELD_LIMITS.outcome_chars);
    replace(runtime, 'previous_outcome', previous);
    svc.runtime = runtime;
  }
  return svc;
}

function readRoster(reader: FieldReader, data: Record<string, unknown>): Roster | undefined {
  const block = reader.map(data, 'collaboration');
  if (block === undefined) return undefined;
  const inner = reader.within('collaboration.');
  const roster: Roster = {};
  const roles = Object.keys(block);
  if (roles.length > FIELD_LIMITS.roles)
    return reader.refuse('collaboration', `takes at most ${FIELD_LIMITS.roles} roles`);
  for (const role of roles) {
    if (role === '__proto__') inner.refuse(role, 'cannot be a role');
    else roster[role] = inner.texts(block, role, COLLABORATORS) ?? [];
  }
  return roster;
}

class FieldReader {
  #prefix: string;
  #shared: { problem: FieldProblem | null };

  constructor(prefix = '', shared: { problem: FieldProblem | null } = { problem: null }) {
    this.#prefix = prefix;
    this.#shared = shared;
  }

  get problem(): FieldProblem | null {
    return this.#shared.problem;
  }

  within(prefix: string): FieldReader {
    return new FieldReader(prefix, this.#shared);
  }

  refuse(key: string, takes: string): undefined {
    this.#shared.problem ??= { key: this.#prefix + key, message: `"${this.#prefix}${key}" ${takes}` };
    return undefined;
  }

  flag(data: Record<string, unknown>, key: string): boolean | undefined {
    const value = data[key];
    if (value === undefined || value === null || typeof value === 'boolean') return value ?? undefined;
    return this.refuse(key, 'takes true or false');
  }

  text(
    data: Record<string, unknown>,
    key: string,
    most: number = FIELD_LIMITS.text_chars,
  ): string | undefined {
    const value = data[key];
    if (value === undefined || value === null) return undefined;
    const text = asText(value) ?? this.refuse(key, 'takes text');
    if (text === undefined || text.length <= most) return text;
    return this.refuse(key, `takes at most ${most} characters`);
  }

  texts(
    data: Record<string, unknown>,
    key: string,
    { most, chars }: { most: number; chars: number },
  ): string[] | undefined {
    const value = data[key];
    if (value === undefined || value === null) return undefined;
    const items = Array.isArray(value) ? value : [value];
    if (items.length > most) return this.refuse(key, `takes at most ${most} entries`);
    const texts = items.map(asText);
    if (!texts.every((text) => text !== undefined)) this.refuse(key, 'takes a list of text');
    else if (texts.some((text) => text.length > chars))
      this.refuse(key, `takes entries of at most ${chars} characters`);
    return texts.filter((text) => text !== undefined && text.length <= chars) as string[];
  }

  oneOf<T extends string>(data: Record<string, unknown>, key: string, allowed: readonly T[]): T | undefined {
    const value = data[key];
    if (value === undefined || value === null) return undefined;
    const found = allowed.find((entry) => entry === value);
    return found ?? this.refuse(key, `takes one of ${allowed.join(', ')}`);
  }

  map(data: Record<string, unknown>, key: string): Record<string, unknown> | undefined {
    const value = data[key];
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
    return this.refuse(key, 'takes a map of keys');
  }
}

function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value);
  return undefined;
}

function assign<T extends object, K extends keyof T>(target: T, key: K, value: T[K] | undefined): void {
  if (value !== undefined) target[key] = value;
}

function replace<T extends object, K extends keyof T>(target: T, key: K, value: T[K] | undefined): void {
  if (value === undefined) delete target[key];
  else target[key] = value;
}
