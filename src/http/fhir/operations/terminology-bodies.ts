/** Parses terminology resources that are part of a request. */
import { z } from 'zod';
import type { JsonObject } from '#src/shared/json/json.ts';
import { sizeOfJson } from '#src/shared/json/json-equal.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { ConceptMap, ValueSet } from '#src/terminology/resources.ts';
import { sentence } from '../../api/issues.ts';

/** Maximum number of items in one list in such a resource. */
const MOST = 50_000;
/** Maximum number of JSON values in such a resource, because it is checked all at once. */
const MOST_VALUES = 100_000;

const text = z.string().min(1);
const list = <Item extends z.ZodType>(item: Item) => z.array(item).max(MOST);
const listed = list(z.looseObject({ code: text, display: text.optional() }));
const part = z.looseObject({
  system: text.optional(),
  version: text.optional(),
  concept: listed.optional(),
  filter: list(z.looseObject({ property: text, op: text, value: text })).optional(),
  valueSet: list(text).optional(),
});
const contained: z.ZodType = z.looseObject({
  system: text.optional(),
  version: text.optional(),
  code: text.optional(),
  display: text.optional(),
  contains: z.lazy(() => list(contained)).optional(),
});
const valueSet = z.looseObject({
  resourceType: z.literal('ValueSet'),
  url: text.optional(),
  compose: z
    .looseObject({
      inactive: z.boolean().optional(),
      include: list(part).min(1),
      exclude: list(part).optional(),
    })
    .optional(),
  expansion: z.looseObject({ contains: list(contained).optional() }).optional(),
});
const target = z.looseObject({ code: text.optional(), display: text.optional(), equivalence: text });
const conceptMap = z.looseObject({
  resourceType: z.literal('ConceptMap'),
  url: text.optional(),
  group: list(
    z.looseObject({
      source: text.optional(),
      target: text.optional(),
      element: list(z.looseObject({ code: text.optional(), target: list(target).optional() })),
      unmapped: z
        .looseObject({ mode: z.enum(['provided', 'fixed', 'other-map']), code: text.optional() })
        .optional(),
    }),
  ).optional(),
});

/**
 * Parses a value set in a request.
 * @throws Refusal invalid (422) naming the invalid elements, too_large (413).
 */
export function parseValueSet(resource: JsonObject): ValueSet {
  return parsed(valueSet, 'ValueSet', resource) as ValueSet;
}

/**
 * Parses a concept map in a request.
 * @throws Refusal invalid (422), too_large (413)
 */
export function parseConceptMap(resource: JsonObject): ConceptMap {
  return parsed(conceptMap, 'ConceptMap', resource) as ConceptMap;
}

function parsed(schema: z.ZodType, type: string, resource: JsonObject): unknown {
  const { values } = sizeOfJson(resource);
  if (values > MOST_VALUES) {
    const diagnostics = `a ${type} in the request can have at most ${MOST_VALUES} JSON values; this one has ${values}`;
    throw new Refusal('too_large', { code: 'too-costly', diagnostics, expression: type });
  }
  const { data, error } = schema.safeParse(resource, { error: sayPlainly, reportInput: true });
  if (error === undefined) return data;
  throw new Refusal(
    'invalid',
    error.issues.map(({ path, message }) => {
      const expression = path.reduce<string>(
        (at, step) => (typeof step === 'number' ? `${at}[${step}]` : `${at}.${String(step)}`),
        type,
      );
      return { code: 'structure' as const, diagnostics: `${expression} ${message}`, expression };
    }),
  );
}

function sayPlainly(issue: z.core.$ZodRawIssue): string {
  return issue.input === undefined ? 'is missing' : sentence(issue);
}
