/**
 * Converts zod schemas to JSON Schema (draft 2020-12). Schemas with a name (`.meta({ id })`) are listed in the document's
 * components.
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

/** A part of the document. */
export type Part = Readonly<Record<string, unknown>>;

const LOCAL = '#/$defs/';
const COMPONENTS = '#/components/schemas/';

/** Collects a document's named schemas while the other schemas are built. */
export class Schemas {
  readonly #named = new Map<string, Part>();

  /**
   * Returns the schema of data that a client sends (`input`: members with defaults are optional) or receives (`output`).
   * @throws Error if two different schemas have the same name.
   */
  of(schema: z.ZodType, io: 'input' | 'output'): Part {
    const {
      $schema: _,
      $defs,
      ...made
    } = z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        withoutNoise(jsonSchema);
        withExamples(zodSchema, jsonSchema);
      },
    });
    const names = new Map<string, string>();
    for (const name of Object.keys($defs ?? {})) names.set(name, io === 'output' ? name : `${name}Input`);
    for (const [name, part] of Object.entries($defs ?? {})) {
      const given = names.get(name) ?? name;
      const known = this.#named.get(given);
      const renamed = pointed(part, names);
      if (known !== undefined && !isDeepStrictEqual(known, renamed))
        throw new Error(`two schemas are called ${given}`);
      this.#named.set(given, renamed);
    }
    return pointed(made, names);
  }

  /** The components, by name. */
  get components(): Part {
    return Object.fromEntries([...this.#named].sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}

/**
 * Removes details that don't help readers: zod's own pattern for a format that has a name, and the limits of JavaScript's
 * integers.
 */
function withoutNoise(made: z.core.JSONSchema.BaseSchema): void {
  if (made.format !== undefined) delete made.pattern;
  if (made.minimum === Number.MIN_SAFE_INTEGER) delete made.minimum;
  if (made.maximum === Number.MAX_SAFE_INTEGER) delete made.maximum;
}

/**
 * Adds examples to schemas that transform their input, because zod drops the examples of such schemas. The examples are input
 * values.
 */
function withExamples(schema: z.core.$ZodType, made: z.core.JSONSchema.BaseSchema): void {
  const examples = z.globalRegistry.get(schema)?.examples;
  if (Array.isArray(examples)) made.examples = examples;
}

/**
 * Makes references to local definitions refer to the components instead. Members marked `unlisted` are left out: they are
 * alternative spellings that generated code doesn't need.
 */
function pointed(part: unknown, names: ReadonlyMap<string, string>): Part {
  const text = JSON.stringify(part, (key, value: unknown) => {
    if (typeof value === 'object' && value !== null && 'unlisted' in value) return undefined;
    if (key !== '$ref' || typeof value !== 'string' || !value.startsWith(LOCAL)) return value;
    const name = value.slice(LOCAL.length);
    return COMPONENTS + (names.get(name) ?? name);
  });
  return JSON.parse(text) as Part;
}
