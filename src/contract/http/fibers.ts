import { z } from 'zod';
import { FIELD_LIMITS, WRITE_LIMITS } from '../document-limits.ts';
import { fiberRowSchema, fiberStatusSchema, rosterSchema, svcBlockSchema } from '../fiber.ts';
import { bounded, flagSchema, mostKeys, referenceSchema } from './bounded.ts';
import { compositeOf } from './composite.ts';
import { dryRunField } from './rehearsal.ts';

/**
 * `GET /fibers?svc=&body=&since=` (RPL-1): `svc` keeps only this host's fibers, `body` adds the markdown bodies,
 * `since` is the tag of a copy (with or without the quotes of an `ETag`), and only later changes are answered.
 */
export const fibersQuerySchema = z.object({
  svc: flagSchema.optional(),
  body: flagSchema.optional(),
  since: referenceSchema.optional(),
});

/** `cold`: no store listed yet, or not looked yet which workers run; `partial`: some store is cold or on last-known rows; `fresh`: all listed. */
export const feedStateSchema = z.enum(['cold', 'partial', 'fresh']);
export type FeedState = z.infer<typeof feedStateSchema>;

export const fibersFeedSchema = z.object({
  host: z.string(),
  state: feedStateSchema,
  generated_at: z.number(),
  fibers: z.array(fiberRowSchema),
});

/** With `since`: the rows added or changed after that tag, and the paths of removed rows. */
export const fibersDeltaSchema = z.object({
  host: z.string(),
  state: feedStateSchema,
  generated_at: z.number(),
  tag: z.string(),
  rows: z.array(fiberRowSchema),
  removed: z.array(z.string()),
});
export type FibersDelta = z.infer<typeof fibersDeltaSchema>;

/** With `since`, if that tag is unknown or too old; `tag` is null while the feed is cold. */
export const fibersWholeSchema = fibersFeedSchema.extend({
  tag: z.string().nullable(),
  whole: z.literal(true),
});
export type FibersWhole = z.infer<typeof fibersWholeSchema>;

export const fibersReplySchema = z.union([fibersWholeSchema, fibersFeedSchema, fibersDeltaSchema]);

/**
 * `GET /fibers/composite?since=&first=` (RPL-2): `since` is the `tag` of a copy; without it every row is answered. `first`
 * without a tag answers the rows of this host that a board shows first, where it has many; then no tag is answered.
 */
export const compositeFibersQuerySchema = fibersQuerySchema.pick({ since: true }).extend({
  first: flagSchema.optional(),
});

const fibersReadSchema = z.union([
  /** `of`: how many rows there are, where `fibers` has only the `first` ones. */
  fibersWholeSchema.extend({ of: z.number().int().optional() }),
  fibersDeltaSchema,
]);
/**
 * `tag` names the rows of all hosts together, and is null while some of them are not known. The read of a host is whole,
 * or what changed after `since`.
 */
export const fibersCompositeSchema = compositeOf(fibersReadSchema).extend({
  tag: z.string().nullable(),
});
export type FibersComposite = z.infer<typeof fibersCompositeSchema>;

/** `GET /fibers/*id` and the answers of the document writes. */
export const fiberReplySchema = z.object({ fiber: fiberRowSchema });
export type FiberReply = z.infer<typeof fiberReplySchema>;

const name = z.string().trim().min(1).max(FIELD_LIMITS.name_chars);
const text = z.string().max(FIELD_LIMITS.text_chars);
const body = z.string().max(WRITE_LIMITS.body_chars);
const outcome = z.string().max(FIELD_LIMITS.outcome_chars);
const tags = z.array(z.string().max(FIELD_LIMITS.tag_chars)).max(FIELD_LIMITS.tags);
const path = z.string().min(1).max(WRITE_LIMITS.path_chars);
const roster = bounded(mostKeys(rosterSchema, FIELD_LIMITS.roles));

export const createFiberSchema = z.object({
  name,
  /** Leaf of the new id; derived from the name when absent. */
  slug: referenceSchema.optional(),
  /** Canonical id or uid of the fiber to file it under. */
  parent: referenceSchema.optional(),
  /** Root of the store; needed only if the daemon polls more than one. */
  store: referenceSchema.optional(),
  body: body.optional(),
  outcome: outcome.optional(),
  tags: tags.optional(),
  status: fiberStatusSchema.optional(),
  due: text.optional(),
  svc: bounded(svcBlockSchema).optional(),
  collaboration: roster.optional(),
  dry_run: dryRunField,
  origin: referenceSchema.optional(),
});
export type CreateFiber = z.infer<typeof createFiberSchema>;

/** Frontmatter paths (`horizon`, `svc.agent`) to JSON values. */
const fieldsSchema = bounded(mostKeys(z.record(path, z.unknown()), WRITE_LIMITS.set_keys));

/** `POST /fiber-nest` (WPL-12): moves a fiber below another one, or to the top of its store for null. */
export const nestFiberSchema = z.object({
  fiber_id: referenceSchema.min(1),
  parent: referenceSchema.min(1).nullable(),
  origin: referenceSchema.optional(),
  dry_run: dryRunField,
});
export type NestFiber = z.infer<typeof nestFiberSchema>;
/**
 * `rewritten`: ids of documents whose links were rewritten; `unwritten`: documents where that failed, with the reason.
 */
export const nestedSchema = z.object({
  fiber_id: z.string(),
  new_id: z.string(),
  rewritten: z.array(z.string()),
  unwritten: z.array(z.object({ id: z.string(), message: z.string() })),
});
export type NestedReply = z.infer<typeof nestedSchema>;

/**
 * What takes a write back: the fields that it changed as they were, for a `POST /fiber-edit` with `restores`, and the
 * digest of the document after it, for `expected_digest`.
 */
export const undoSchema = z.object({
  set: z.record(z.string(), z.unknown()),
  unset: z.array(z.string()),
  digest: z.string(),
});
export type Undo = z.infer<typeof undoSchema>;
/** `undo`: absent where more than fields was changed. */
export const editedReplySchema = z.object({ ...fiberReplySchema.shape, undo: undoSchema.optional() });
export type EditedReply = z.infer<typeof editedReplySchema>;

export const editFiberSchema = z.object({
  fiber_id: referenceSchema.min(1),
  name: name.optional(),
  status: fiberStatusSchema.optional(),
  outcome: outcome.nullable().optional(),
  body: body.optional(),
  tags: tags.optional(),
  due: text.nullable().optional(),
  tempered: z.boolean().nullable().optional(),
  set: fieldsSchema.optional(),
  unset: z.array(path).max(WRITE_LIMITS.unset_keys).optional(),
  expected_digest: referenceSchema.optional(),
  /** The fields are those of an `undo`: nothing is added, as arming a fiber otherwise does. */
  restores: z.literal(true).optional(),
  collaboration: roster.optional(),
  dry_run: dryRunField,
  origin: referenceSchema.optional(),
});
export type EditFiber = z.infer<typeof editFiberSchema>;
