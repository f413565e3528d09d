/** Terminology resources that a request brings along. */
import { z } from 'zod';
import { Refusal } from '#src/shared/refusal.ts';
import type { ConceptMap, ValueSet } from './resources.ts';

const text = z.string().min(1);
const listed = z.array(z.looseObject({ code: text, display: text.optional() }));
const part = z.looseObject({
  system: text.optional(),
  version: text.optional(),
  concept: listed.optional(),
  filter: z.array(z.looseObject({ property: text, op: text, value: text })).optional(),
  valueSet: z.array(text).optional(),
});
const contained: z.ZodType = z.looseObject({
  system: text.optional(),
  code: text.optional(),
  display: text.optional(),
  contains: z.lazy(() => z.array(contained)).optional(),
});
const valueSet = z.looseObject({
  resourceType: z.literal('ValueSet'),
  url: text.optional(),
  compose: z
    .looseObject({
      inactive: z.boolean().optional(),
      include: z.array(part).min(1),
      exclude: z.array(part).optional(),
    })
    .optional(),
  expansion: z.looseObject({ contains: z.array(contained).optional() }).optional(),
});
const target = z.looseObject({ code: text.optional(), display: text.optional(), equivalence: text });
const conceptMap = z.looseObject({
  resourceType: z.literal('ConceptMap'),
  url: text.optional(),
  group: z
    .array(
      z.looseObject({
        source: text.optional(),
        target: text.optional(),
        element: z.array(z.looseObject({ code: text.optional(), target: z.array(target).optional() })),
        unmapped: z
          .looseObject({ mode: z.enum(['provided', 'fixed', 'other-map']), code: text.optional() })
          .optional(),
      }),
    )
    .optional(),
});

/** A value set as it was sent. @throws Refusal invalid (422) naming every element that is wrong. */
export function givenValueSet(resource: unknown): ValueSet {
  return parsed(valueSet, 'ValueSet', resource) as ValueSet;
}

/** A map as it was sent. @throws Refusal invalid (422) */
export function givenConceptMap(resource: unknown): ConceptMap {
  return parsed(conceptMap, 'ConceptMap', resource) as ConceptMap;
}

function parsed(schema: z.ZodType, type: string, resource: unknown): unknown {
  const { data, error } = schema.safeParse(resource);
  if (error === undefined) return data;
  throw new Refusal(
    'invalid',
    error.issues.map(({ path, message }) => {
      const expression = path.reduce<string>(
        (at, step) => (typeof step === 'number' ? `${at}[${step}]` : `${at}.${String(step)}`),
        type,
      );
      return { code: 'structure' as const, diagnostics: `${expression}: ${message}`, expression };
    }),
  );
}
