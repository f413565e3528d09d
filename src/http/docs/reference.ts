/** Parses the operations in the OpenAPI document for the reference pages, and resolves their references. */
import { z } from 'zod';
import type { Part } from '../openapi/schemas.ts';

/** A JSON Schema, limited to what the pages show. */
export interface Schema {
  readonly $ref?: string | undefined;
  readonly type?: string | readonly string[] | undefined;
  readonly description?: string | undefined;
  readonly title?: string | undefined;
  readonly format?: string | undefined;
  readonly pattern?: string | undefined;
  readonly const?: unknown;
  readonly enum?: readonly unknown[] | undefined;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly required?: readonly string[] | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly additionalProperties?: boolean | Schema | undefined;
  readonly items?: Schema | undefined;
  readonly anyOf?: readonly Schema[] | undefined;
  readonly oneOf?: readonly Schema[] | undefined;
}

const number = z.number().optional();
const text = z.string().optional();

const schema: z.ZodType<Schema> = z.object({
  $ref: text,
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: text,
  title: text,
  format: text,
  pattern: text,
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  default: z.unknown().optional(),
  example: z.unknown().optional(),
  minimum: number,
  maximum: number,
  minLength: number,
  maxLength: number,
  minItems: number,
  maxItems: number,
  required: z.array(z.string()).optional(),
  properties: z.lazy(() => z.record(z.string(), schema)).optional(),
  additionalProperties: z.lazy(() => z.union([z.boolean(), schema])).optional(),
  items: z.lazy(() => schema).optional(),
  anyOf: z.lazy(() => z.array(schema)).optional(),
  oneOf: z.lazy(() => z.array(schema)).optional(),
});

const parameter = z.object({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean().default(false),
  description: z.string().default(''),
  schema,
  style: text,
  example: z.unknown().optional(),
});

/** A request parameter. */
export type Parameter = z.output<typeof parameter>;

const media = z.object({
  schema: schema.optional(),
  example: z.unknown().optional(),
  examples: z.record(z.string(), z.object({ value: z.unknown() })).optional(),
});

/** A form of a body. */
export type Media = z.output<typeof media>;

const answer = z.object({ description: z.string(), content: z.record(z.string(), media).default({}) });

const listed = z.object({
  operationId: z.string(),
  summary: z.string(),
  description: z.string().default(''),
  tags: z.tuple([z.string()], z.string()),
});

const operation = z.object({
  security: z.array(z.record(z.string(), z.array(z.string()))),
  parameters: z.array(z.unknown()).default([]),
  requestBody: z
    .object({ required: z.boolean().default(false), content: z.record(z.string(), media) })
    .optional(),
  responses: z.record(z.string(), z.unknown()),
});

const parts = z.record(z.string(), z.unknown());

const described = z.object({
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), parts),
  components: z.object({ schemas: parts, parameters: parts, responses: parts }),
});

const reference = z.object({ $ref: z.string() });

/** An operation as shown in a list. */
export interface ListedOperation extends Omit<z.output<typeof listed>, 'tags'> {
  readonly method: string;
  readonly path: string;
  readonly tag: string;
}

export interface Operation
  extends ListedOperation,
    Omit<z.output<typeof operation>, 'parameters' | 'responses'> {
  readonly parameters: readonly Parameter[];
  readonly answers: readonly (z.output<typeof answer> & { readonly status: string })[];
}

/** A group of operations. */
export interface Group {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly ListedOperation[];
}

/**
 * The operations in an OpenAPI document. At first, only the parts needed for lists are parsed, because parsing the whole
 * document takes a quarter of a second.
 */
export class Reference {
  readonly operations: readonly ListedOperation[];
  readonly groups: readonly Group[];
  readonly #parts = new Map<string, unknown>();
  readonly #components: z.output<typeof described>['components'];

  /** @throws ZodError if the document contains something that the pages can't show */
  constructor(document: Part) {
    const { tags, paths, components } = described.parse(document);
    this.#components = components;
    this.operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, part]) => {
        const {
          tags: [tag],
          ...each
        } = listed.parse(part);
        this.#parts.set(each.operationId, part);
        return { ...each, method: method.toUpperCase(), path, tag };
      }),
    );
    this.groups = tags.map(({ name, description }) => ({
      name,
      description,
      operations: this.operations.filter(({ tag }) => tag === name),
    }));
  }

  /** Returns an operation by id; undefined if it doesn't exist. */
  operation(id: string): Operation | undefined {
    const found = this.operations.find(({ operationId }) => operationId === id);
    if (found === undefined) return undefined;
    const { parameters, responses, ...rest } = operation.parse(this.#parts.get(id));
    return {
      ...found,
      ...rest,
      parameters: parameters.map((part) => followed(part, this.#components.parameters, parameter)),
      answers: Object.entries(responses).map(([status, part]) => ({
        status,
        ...followed(part, this.#components.responses, answer),
      })),
    };
  }

  /** Returns one of the document's schemas by name; undefined if it doesn't exist. */
  schema(name: string): Schema | undefined {
    const part = this.#components.schemas[name];
    return part === undefined ? undefined : schema.parse(part);
  }
}

/** Parses a part of the document, or the component that it refers to. */
function followed<T extends z.ZodType>(
  part: unknown,
  components: Readonly<Record<string, unknown>>,
  as: T,
): z.output<T> {
  const { data } = reference.safeParse(part);
  return as.parse(data === undefined ? part : components[data.$ref.slice(data.$ref.lastIndexOf('/') + 1)]);
}
