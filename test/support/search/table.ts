/** Tables of search cases: resources named by letters, queries, and the letters that they must find according to R4. */
import type { ResourceType } from '#src/fhir/types.ts';

/** A resource without its type and id. `Type/@letter` in a text is a reference to the resource with that letter. */
export type Body = Readonly<Record<string, unknown>>;

/**
 * A query on the table's type, and the letters that it finds: in any order, or in this order if the query has `_sort`. In the
 * query, `Type/@letter` stands for a reference and `@Type/letter` for an id.
 */
export type Case = readonly [query: string, letters: string];

/**
 * The cases for one topic. Only the table's own resources count in the results, so that tables for the same type are
 * independent.
 */
export interface SearchTable {
  /** The topic, in addition to the type. */
  readonly topic: string;
  readonly type: ResourceType;
  readonly resources: Readonly<Record<string, Body>>;
  readonly cases: readonly Case[];
}

/** Elements that every type has, for the searches of `commonCases`. */
export const MARKED = {
  meta: {
    profile: ['http://example.org/fhir/StructureDefinition/marked'],
    tag: [{ system: 'urn:tags', code: 'marked' }],
    security: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality', code: 'R' }],
    source: 'http://example.org/sources/marked',
  },
} as const;

/** Returns cases for the parameters that all types have, for a resource that contains `MARKED`. */
export function commonCases(type: ResourceType, letter: string): Case[] {
  return [
    [`_id=@${type}/${letter}`, letter],
    [`_id=00000000-0000-0000-0000-000000000000,@${type}/${letter}`, letter],
    [`_lastUpdated=ge2024&_id=@${type}/${letter}`, letter],
    [`_lastUpdated=lt2024&_id=@${type}/${letter}`, ''],
    ['_tag=urn:tags|marked', letter],
    ['_tag=urn:other|marked', ''],
    ['_security=http://terminology.hl7.org/CodeSystem/v3-Confidentiality|R', letter],
    ['_profile=http://example.org/fhir/StructureDefinition/marked', letter],
    ['_source=http://example.org/sources/marked', letter],
    ['_source=http://example.org/sources', ''],
  ];
}

/** Returns a CodeableConcept. */
export const concept = (system: string, code: string, text?: string): Body => ({
  coding: [{ system, code }],
  ...(text === undefined ? {} : { text }),
});

/** Returns a reference. */
export const to = (reference: string): Body => ({ reference });

/** Returns an identifier. */
export const identifier = (system: string, value: string): Body => ({ system, value });

/** Returns a quantity in a UCUM unit. */
export const ucum = (value: number, code: string, unit = code): Body => ({
  value,
  unit,
  system: 'http://unitsofmeasure.org',
  code,
});
