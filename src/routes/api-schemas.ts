import { z } from 'zod';
import { agentSchema } from '../contract/agent.ts';
import { componentViewSchema } from '../contract/component.ts';
import { blockedViewSchema, fiberRowSchema, runViewSchema, svcBlockSchema } from '../contract/fiber.ts';
import { bootingSchema } from '../contract/http/booting.ts';
import { captureViewSchema } from '../contract/http/capture.ts';
import { configEntrySchema, storeOriginSchema } from '../contract/http/config.ts';
import { refusedSchema } from '../contract/http/dispatch.ts';
import { errorBodySchema } from '../contract/http/errors.ts';
import { incidentSchema } from '../contract/http/incidents.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { storeHealthSchema } from '../contract/http/state.ts';
import { gateViewSchema } from '../contract/http/why.ts';
import { sessionLineSchema } from '../contract/ledger.ts';

export type JsonSchema = { [key: string]: unknown };

/** Schemas that have a name of their own in the description of the API; every other one stands where it is used. */
const NAMED: Readonly<Record<string, z.ZodType>> = {
  Agent: agentSchema,
  Blocked: blockedViewSchema,
  Booting: bootingSchema,
  Capture: captureViewSchema,
  Component: componentViewSchema,
  ConfigEntry: configEntrySchema,
  DispatchRefused: refusedSchema,
  Error: errorBodySchema,
  Fiber: fiberRowSchema,
  Gate: gateViewSchema,
  Incident: incidentSchema,
  Rehearsal: rehearsalSchema,
  Run: runViewSchema,
  SessionLine: sessionLineSchema,
  StoreHealth: storeHealthSchema,
  StoreOrigin: storeOriginSchema,
  SvcBlock: svcBlockSchema,
};

const names = z.registry<{ id: string }>();
for (const [id, schema] of Object.entries(NAMED)) names.add(schema, { id });

/** Turns zod schemas into JSON Schema, with what they share gathered under `components`. */
export class ApiSchemas {
  readonly components: Record<string, JsonSchema> = {};
  readonly #known = { input: new Map<z.ZodType, JsonSchema>(), output: new Map<z.ZodType, JsonSchema>() };
  readonly #shared = new Map<string, string>();

  /** One schema; references lead to `#/components/schemas`. `io` is the side whose values it describes. */
  of(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const known = this.#known[io].get(schema);
    if (known !== undefined) return known;
    const made = this.#make(schema, io);
    this.#known[io].set(schema, made);
    return made;
  }

  #make(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const wrapped = z.toJSONSchema(z.object({ it: schema }), {
      metadata: names,
      io,
      unrepresentable: 'any',
    }) as JsonSchema;
    const { $defs = {}, properties } = wrapped as {
      $defs?: Record<string, JsonSchema>;
      properties: { it: JsonSchema };
    };
    const renamed = new Map<string, string>();
    for (const [name, part] of Object.entries($defs)) renamed.set(name, this.#nameFor(name, part, io));
    const moved = (part: unknown): unknown => {
      if (Array.isArray(part)) return part.map(moved);
      if (typeof part !== 'object' || part === null) return part;
      const entries = Object.entries(part).map(([key, value]) =>
        key === '$ref' && typeof value === 'string'
          ? [key, `#/components/schemas/${renamed.get(value.replace('#/$defs/', ''))}`]
          : [key, moved(value)],
      );
      return Object.fromEntries(entries);
    };
    for (const [name, part] of Object.entries($defs))
      this.components[renamed.get(name)!] ??= moved(part) as JsonSchema;
    return moved(properties.it) as JsonSchema;
  }

  /** A schema without a name of its own is shared by what it says; what is taken in differs from what is given out. */
  #nameFor(name: string, part: JsonSchema, io: 'input' | 'output'): string {
    if (Object.hasOwn(NAMED, name)) return io === 'output' ? name : `${name}Input`;
    const says = JSON.stringify(part).replaceAll(name, 'self');
    const known = [...this.#shared].find(([text]) => text === says)?.[1];
    if (known !== undefined) return known;
    const fresh = `Value${this.#shared.size + 1}`;
    this.#shared.set(says, fresh);
    return fresh;
  }
}
