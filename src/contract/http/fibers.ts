import { z } from 'zod';
import { fiberRowSchema, fiberStatusSchema, rosterSchema, svcBlockSchema } from '../fiber.ts';
import { dryRunField } from './rehearsal.ts';

const flag = z
  .enum(['true', 'false', '1', '0', ''])
  .transform((value) => value === 'true' || value === '1' || value === '');

/** `GET /fibers?svc=&body=` (RPL-1): `svc` keeps only this host's own, `body` adds the markdown bodies. */
export const fibersQuerySchema = z.object({ svc: flag.optional(), body: flag.optional() });

/** `cold`: no store listed yet; `partial`: some store is cold or on last-known rows; `fresh`: all listed. */
export const feedStateSchema = z.enum(['cold', 'partial', 'fresh']);
export type FeedState = z.infer<typeof feedStateSchema>;

export const fibersFeedSchema = z.object({
  host: z.string(),
  state: feedStateSchema,
  generated_at: z.number(),
  fibers: z.array(fiberRowSchema),
});

/** `GET /fibers/*id` and the answers of the document writes. */
export const fiberReplySchema = z.object({ fiber: fiberRowSchema });
export type FiberReply = z.infer<typeof fiberReplySchema>;

export const createFiberSchema = z.object({
  name: z.string().trim().min(1).max(500),
  /** Leaf of the new id; derived from the name when absent. */
  slug: z.string().optional(),
  /** Canonical id or uid of the fiber to file it under. */
  parent: z.string().optional(),
  /** Root of the store; needed only where the daemon polls more than one. */
  store: z.string().optional(),
  body: z.string().optional(),
  outcome: z.string().optional(),
  tags: z.array(z.string()).optional(),
  status: fiberStatusSchema.optional(),
  due: z.string().optional(),
  svc: svcBlockSchema.optional(),
  collaboration: rosterSchema.optional(),
  dry_run: dryRunField,
  origin: z.string().optional(),
});
export type CreateFiber = z.infer<typeof createFiberSchema>;

/** Frontmatter paths (`horizon`, `svc.agent`) to values. */
const fieldsSchema = z.record(z.string().min(1), z.json());

/** `POST /fiber-nest` (WPL-12): files a fiber under another one, or at the top of its store for null. */
export const nestFiberSchema = z.object({
  fiber_id: z.string().min(1),
  parent: z.string().min(1).nullable(),
  origin: z.string().optional(),
  dry_run: dryRunField,
});
export type NestFiber = z.infer<typeof nestFiberSchema>;
/** `rewritten`: ids of documents whose links were; `unwritten`: those whose could not be, with the reason. */
export const nestedSchema = z.object({
  fiber_id: z.string(),
  new_id: z.string(),
  rewritten: z.array(z.string()),
  unwritten: z.array(z.object({ id: z.string(), message: z.string() })),
});
export type NestedReply = z.infer<typeof nestedSchema>;

export const editFiberSchema = z.object({
  fiber_id: z.string().min(1),
  name: z.string().trim().min(1).max(500).optional(),
  status: fiberStatusSchema.optional(),
  outcome: z.string().nullable().optional(),
  body: z.string().optional(),
  tags: z.array(z.string()).optional(),
  due: z.string().nullable().optional(),
  tempered: z.boolean().nullable().optional(),
  set: fieldsSchema.optional(),
  unset: z.array(z.string().min(1)).optional(),
  expected_digest: z.string().optional(),
  collaboration: rosterSchema.optional(),
  dry_run: dryRunField,
  origin: z.string().optional(),
});
export type EditFiber = z.infer<typeof editFiberSchema>;
