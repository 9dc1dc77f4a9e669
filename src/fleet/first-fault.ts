import { z } from 'zod';

/**
 * What a schema makes of a value of another host; undefined where it is none. It stops at the first wrong element of a list: zod
 * itself keeps an issue for each of them, and a hostile answer of a few MB has millions. Lists are followed through objects
 * and lists, also where they are optional.
 */
export function parsedUntilFault<S extends z.ZodType>(schema: S, value: unknown): z.output<S> | undefined {
  return outputOf(schema, value) as z.output<S> | undefined;
}

/** The same, for a schema of any library type. */
export function outputOf(schema: z.core.$ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodArray) return listOf(schema, value);
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null)
    return z.safeParse(schema, value).data;
  const lists: Record<string, unknown> = {};
  const rest: Record<string, unknown> = { ...value };
  for (const [key, member] of Object.entries(schema.shape)) {
    const list = isMissing(rest[key]) ? null : listIn(member);
    if (list === null) continue;
    const told = outputOf(list, rest[key]);
    if (told === undefined) return undefined;
    lists[key] = told;
    rest[key] = list instanceof z.ZodArray ? [] : told;
  }
  const head = schema.safeParse(rest);
  return head.success ? { ...head.data, ...lists } : undefined;
}

function listOf(schema: z.ZodArray, value: unknown): unknown[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const told: unknown[] = [];
  for (const one of value) {
    const element = outputOf(schema.element, one);
    if (element === undefined) return undefined;
    told.push(element);
  }
  return told;
}

/** The schema of the elements of a member that is a list; null for all else. */
export function elementOf(member: z.core.$ZodType | undefined): z.core.$ZodType | null {
  const list = member === undefined ? null : listIn(member);
  return list instanceof z.ZodArray ? list.element : null;
}

/** The list or the object that a member of an object is; null for all else. */
function listIn(member: z.core.$ZodType): z.core.$ZodType | null {
  if (member instanceof z.ZodOptional || member instanceof z.ZodNullable || member instanceof z.ZodDefault)
    return listIn(member.unwrap());
  return member instanceof z.ZodArray || member instanceof z.ZodObject ? member : null;
}

/** Zod itself says whether a member may be missing or null. */
function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}
