/** The tools for assistants: what each tool takes and returns, and how it uses the service's interfaces. */
import { z } from 'zod';
import type { JsonObject } from '#src/shared/json/json.ts';
import { ToolFault } from './fault.ts';
import type { Reach } from './reach.ts';

/** The result of a tool. */
export interface Told {
  /** A short text for the model; `recordText` marks the parts from the record. */
  readonly text: string;
  /** Matches the tool's schema. Numbers keep their digits. */
  readonly structured: JsonObject;
  /** References to exact versions, such as `Observation/<id>/_history/1`. */
  readonly versions?: readonly string[];
  readonly file?: FileBlock | undefined;
  /** True if its numbers are JavaScript numbers, which are faster to print. */
  readonly plain?: true;
}

/** A document's content, if it isn't text. */
export interface FileBlock {
  readonly mediaType: string;
  readonly base64: string;
  readonly uri: string;
}

/**
 * The callers that a tool is for: `key` for callers with access to all patients of a project, `grant` for callers with access
 * to one record.
 */
type For = 'all' | 'key' | 'grant';

/** A tool as the server uses it. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  readonly writes: boolean;
  readonly for: For;
  /**
   * Checks the arguments and runs the tool.
   * @throws ToolFault
   */
  readonly run: (args: unknown, reach: Reach) => Promise<Told>;
}

/** The definition of a tool. */
interface Definition<Input extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly output: z.ZodObject;
  readonly writes?: true;
  readonly for?: For;
  readonly run: (args: z.output<Input>, reach: Reach) => Promise<Told>;
}

/** Creates a tool from its definition. */
export function defineTool<const Input extends z.ZodObject>(definition: Definition<Input>): Tool {
  const { name, title, description, input, output } = definition;
  return {
    ...{ name, title, description },
    inputSchema: jsonSchema(input, 'input'),
    outputSchema: jsonSchema(output, 'output'),
    writes: definition.writes === true,
    for: definition.for ?? 'all',
    run(args, reach) {
      const parsed = input.safeParse(args ?? {});
      if (!parsed.success) throw new ToolFault(`invalid arguments: ${describe(parsed.error)}`);
      return definition.run(parsed.data, reach);
    },
  };
}

function jsonSchema(schema: z.ZodObject, io: 'input' | 'output'): JsonObject {
  return JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io })));
}

function describe({ issues }: z.ZodError): string {
  return issues
    .slice(0, 10)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}

/** The arguments that most tools accept. */
export const COMMON = {
  patient: z
    .string()
    .max(64)
    .optional()
    .describe(
      'The id of the patient. Leave it out if you act for one patient; what_may_i_do says whether you do.',
    ),
};

/** An earlier moment. */
export const AS_OF = z
  .string()
  .max(40)
  .optional()
  .describe('The record as it was at this time: ISO 8601 with an offset, such as 2026-01-31T12:00:00Z.');

/** The place at which a long answer continues. */
export const CURSOR = z
  .string()
  .max(4_000)
  .optional()
  .describe('next_cursor of the previous page. Send the other arguments unchanged.');

/** The page size. */
export const LIMIT = z.int().min(1).max(100).default(20).describe('Maximum number of entries in the answer.');

/** The size of the text in tokens. */
export const TEXT_TOKENS = z
  .int()
  .min(100)
  .max(20_000)
  .default(2_000)
  .describe('The approximate maximum number of tokens of the text. record_content is always complete.');

/** A day of a range. */
export const day = (which: 'first' | 'last') =>
  z.string().max(10).optional().describe(`The ${which} day, YYYY-MM-DD.`);
