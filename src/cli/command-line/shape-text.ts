import type { z } from 'zod';

/** The fields of a schema's definition that are used here. */
type Definition = {
  type: string;
  shape?: Record<string, z.ZodType>;
  catchall?: z.ZodType;
  element?: z.ZodType;
  innerType?: z.ZodType;
  options?: z.ZodType[];
  values?: unknown[];
  entries?: Record<string, string>;
  valueType?: z.ZodType;
};

/** A schema as a TypeScript type. Schemas in `names` are written by name, except the outermost one. */
export function shapeText(
  schema: z.ZodType,
  names: ReadonlyMap<z.ZodType, string>,
  outermost = false,
): string {
  const name = names.get(schema);
  if (name !== undefined && !outermost) return name;
  const def = schema.def as unknown as Definition;
  const inner = (one: z.ZodType | undefined) => (one === undefined ? 'unknown' : shapeText(one, names));
  switch (def.type) {
    case 'object':
      return objectText(def, inner);
    case 'array': {
      const element = inner(def.element);
      return element.includes(' | ') && !element.startsWith('{') ? `(${element})[]` : `${element}[]`;
    }
    case 'optional':
    case 'default':
      return inner(def.innerType);
    case 'nullable':
      return `${inner(def.innerType)} | null`;
    case 'union':
      return [...new Set((def.options ?? []).map(inner))].join(' | ');
    case 'literal':
      return (def.values ?? []).map((value) => JSON.stringify(value)).join(' | ');
    case 'enum':
      return Object.values(def.entries ?? {})
        .map((value) => JSON.stringify(value))
        .join(' | ');
    case 'record':
      return `{ [name: string]: ${inner(def.valueType)} }`;
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return def.type;
    default:
      return 'unknown';
  }
}

function objectText(def: Definition, inner: (one: z.ZodType) => string): string {
  const fields = Object.entries(def.shape ?? {}).map(
    ([key, value]) => `${key}${value.def.type === 'optional' ? '?' : ''}: ${inner(value)}`,
  );
  // A loose object may have fields that it does not name.
  if ((def.catchall?.def as { type?: string } | undefined)?.type === 'unknown') fields.push('…');
  const line = `{ ${fields.join('; ')} }`;
  return line.length <= WIDTH && !line.includes('\n') ? line : `{\n${fields.map(indented).join('\n')}\n}`;
}

const WIDTH = 100;

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
