/**
 * Defines the form of the Parameters in a FHIRPath Patch (https://hl7.org/fhir/R4/fhirpatch.html), and the error messages
 * about it.
 */
import { z } from 'zod';
import { cut } from '#src/shared/cut.ts';
import type { Issue } from '#src/shared/issue.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { didYouMean } from '#src/shared/nearest.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** Maximum number of operations in one Parameters resource; limited because each path is evaluated on the whole resource. */
const MAX_FHIRPATH_OPERATIONS = 1_000;

/** Maximum number of parts in one operation, and in one value. */
const MAX_PARTS = 1_000;

/** Maximum number of unknown members that a message names. */
const MAX_NAMED = 20;

const OPERATION = 'an object with name `operation` and an array part';
const PARTS = 'an array of parts such as {"name": "path", "valueString": "Patient.birthDate"}';

/** Returns the option for zod that words the error if a value is missing or has the wrong form. */
const mustBe = (what: string) => ({
  error: ({ input }: { readonly input?: unknown }) =>
    input === undefined ? `is missing: it must be ${what}` : `must be ${what}`,
});

const json = z.custom<Json>();
const partSchema = z
  .object(
    { name: z.string(mustBe("the part's name, such as `path`")).min(1, 'must not be empty') },
    mustBe('an object such as {"name": "path", "valueString": "Patient.birthDate"}'),
  )
  .catchall(json);
const partsSchema = z
  .array(partSchema, mustBe(PARTS))
  .min(1, `is empty: it must be ${PARTS}`)
  .max(MAX_PARTS, `has more than ${MAX_PARTS} parts`);
const operationSchema = z.strictObject(
  {
    id: json.optional(),
    extension: json.optional(),
    name: z.literal('operation', mustBe('`operation`: each parameter is an operation')),
    part: partsSchema,
  },
  mustBe(OPERATION),
);
const parametersSchema = z.strictObject({
  resourceType: z.literal('Parameters'),
  id: json.optional(),
  meta: json.optional(),
  implicitRules: z.undefined('is not supported in a patch; leave it out').optional(),
  language: json.optional(),
  parameter: z
    .array(json, mustBe(`an array of operations, each ${OPERATION}`))
    .max(MAX_FHIRPATH_OPERATIONS, `has more than ${MAX_FHIRPATH_OPERATIONS} operations; send several patches`)
    .optional(),
});

/** A part of an operation or a value. */
export type Part = z.infer<typeof partSchema>;

/**
 * Returns the parameters of a patch.
 * @throws Refusal malformed (400)
 */
export function readParameters(parameters: JsonObject): readonly Json[] {
  return parse(parametersSchema, parameters, 'Parameters').parameter ?? [];
}

/**
 * Returns an operation's parts.
 * @param at its FHIRPath in the Parameters
 * @throws Refusal malformed (400)
 */
export function readParts(operation: Json, at: string): readonly Part[] {
  return parse(operationSchema, operation, at).part;
}

/**
 * Returns the parts of a value with an anonymous type.
 * @param at the FHIRPath of the operation
 * @param name the name of the part that contains the parts
 * @throws Refusal malformed (400)
 */
export function readInnerParts(parts: Json, at: string, name: string): readonly Part[] {
  return parse(partsSchema, parts, `${at}.part.where(name='${name}').part`);
}

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, at: string): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Refusal(
    'malformed',
    parsed.error.issues.flatMap((issue) => describe(issue, at)),
  );
}

function describe(issue: z.core.$ZodIssue, at: string): Issue[] {
  const steps = issue.path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`));
  const expression = at + steps.join('');
  if (issue.code !== 'unrecognized_keys')
    return [{ code: 'structure', diagnostics: `${expression} ${issue.message}`, expression }];
  const known = Object.keys((at === 'Parameters' ? parametersSchema : operationSchema).shape);
  return issue.keys
    .filter((_, at) => at < MAX_NAMED)
    .map((key) => ({
      code: 'structure',
      diagnostics: `${expression} has the unknown member \`${cut(key, 60)}\`${didYouMean(key, known) || `; the members are ${known.join(', ')}`}`,
      expression,
    }));
}
