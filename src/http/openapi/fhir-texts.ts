/**
 * The OpenAPI document's texts about the FHIR interface's interactions. Which interactions exist is determined by the routes
 * themselves.
 */
import { COMPARTMENT_TYPES } from '#src/fhir/compartments.ts';
import { withArticle } from '#src/shared/article.ts';

/** The texts for one interaction. */
export interface FhirText {
  /** The name used in the operationId. */
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  /** The kind of body; absent if there isn't one. */
  readonly body?: 'Resource' | 'Bundle' | 'Patch' | 'Form';
  /** The kind of response. */
  readonly answer: 'Resource' | 'Bundle' | 'CapabilityStatement' | 'nothing';
  /** Success statuses. */
  readonly statuses: readonly number[];
  /** Request headers, by the names of their components. */
  readonly headers?: readonly string[];
  readonly parameters?: 'search' | 'criteria' | 'history' | 'summary' | 'purge';
}

/** The headers in docs/spec/interface.md, section 4, in addition to `Idempotency-Key` on POST. */
const ACTING = ['ActingAs', 'OnBehalfOf'];
const H1 = ['AuthorType', 'SourceSystem', 'OriginId', ...ACTING];
const H2 = [...H1, 'AuthorRef', 'IfNoneExist', 'Prefer'];
const H3 = ['IfMatch', 'AuthorType', 'SourceSystem', 'OriginId', 'AuthorRef', ...ACTING, 'Prefer'];
const CONDITIONAL_READ = ['IfNoneMatch', 'IfModifiedSince'];

const found = {
  answer: 'Bundle',
  statuses: [200],
  parameters: 'search',
  headers: ['PreferHandling'],
} as const satisfies Partial<FhirText>;
const form = { ...found, body: 'Form' } as const;
const past = {
  answer: 'Bundle',
  statuses: [200],
  parameters: 'history',
  headers: ['PreferHandling'],
} as const;

/** The texts by method and path below the base, where `{resource_type}` stands for any type. */
export const FHIR_TEXTS: Readonly<Record<string, FhirText>> = {
  'GET /metadata': {
    name: 'capabilities',
    summary: 'CapabilityStatement: types, search parameters, operations',
    answer: 'CapabilityStatement',
    statuses: [200],
  },
  'GET ': { name: 'searchSystem', summary: 'Search all types', ...found },
  'POST ': {
    name: 'transaction',
    summary: 'Transaction or batch',
    description:
      'A `transaction` is all or nothing over one patient’s record, together with new or matched directory entries; the entries of a `batch` are independent. Entries are POST, PUT, PATCH and DELETE on resources, including conditional ones, and GET and HEAD: reads, searches (also `POST {type}/_search?…`), histories, operations and `metadata`.',
    body: 'Bundle',
    answer: 'Bundle',
    statuses: [200],
    headers: [...H1, 'Prefer'],
  },
  'GET /_history': { name: 'historySystem', summary: 'History of all resources', ...past },
  'POST /_search': { name: 'searchSystemByForm', summary: 'Search all types, by form', ...form },
  'GET /{resource_type}': { name: 'search', summary: 'Search a type', ...found },
  'POST /{resource_type}/_search': { name: 'searchByForm', summary: 'Search a type, by form', ...form },
  'POST /{resource_type}': {
    name: 'create',
    summary: 'Create a resource',
    body: 'Resource',
    answer: 'Resource',
    statuses: [200, 201],
    headers: H2,
  },
  'PUT /{resource_type}': {
    name: 'updateConditional',
    summary: 'Update the resource that criteria match, or create it',
    body: 'Resource',
    answer: 'Resource',
    statuses: [200, 201],
    headers: H3,
    parameters: 'criteria',
  },
  'PATCH /{resource_type}': {
    name: 'patchConditional',
    summary: 'Patch the resource that criteria match',
    body: 'Patch',
    answer: 'Resource',
    statuses: [200],
    headers: H3,
    parameters: 'criteria',
  },
  'DELETE /{resource_type}': {
    name: 'deleteConditional',
    summary: 'Delete the resource that criteria match',
    answer: 'nothing',
    statuses: [204],
    headers: H3,
    parameters: 'criteria',
  },
  'GET /{resource_type}/_history': { name: 'historyType', summary: 'History of a type', ...past },
  'GET /{resource_type}/{rid}': {
    name: 'read',
    summary: 'Read a resource',
    answer: 'Resource',
    statuses: [200],
    headers: CONDITIONAL_READ,
    parameters: 'summary',
  },
  'PUT /{resource_type}/{rid}': {
    name: 'update',
    summary: 'Update a resource, or restore a deleted one',
    body: 'Resource',
    answer: 'Resource',
    statuses: [200, 201],
    headers: H3,
  },
  'PATCH /{resource_type}/{rid}': {
    name: 'patch',
    summary: 'Patch a resource, by JSON Patch or FHIRPath Patch',
    body: 'Patch',
    answer: 'Resource',
    statuses: [200],
    headers: H3,
  },
  'DELETE /{resource_type}/{rid}': {
    name: 'delete',
    summary: 'Delete a resource; of a Patient, with `_purge`, the whole record physically',
    answer: 'nothing',
    statuses: [204],
    headers: H3,
    parameters: 'purge',
  },
  'GET /{resource_type}/{rid}/_history': { name: 'history', summary: 'History of a resource', ...past },
  'GET /{resource_type}/{rid}/_history/{vid}': {
    name: 'vread',
    summary: 'Read a version',
    answer: 'Resource',
    statuses: [200],
    headers: CONDITIONAL_READ,
    parameters: 'summary',
  },
  ...compartmentTexts(),
};

/** Returns the texts for compartment searches. Names for Patient compartments are different, because they existed first. */
function compartmentTexts(): Record<string, FhirText> {
  return Object.fromEntries(
    COMPARTMENT_TYPES.flatMap((type): [string, FhirText][] => {
      // Every name ends with the type, except the names for Patient.
      const [whole, what] =
        type === 'Patient'
          ? ['Record', 'a patient’s record']
          : ['WholeCompartment', `the compartment of ${withArticle(type)}`];
      const inside = type === 'Patient' ? 'a patient’s compartment' : what;
      const path = `/${type}/{rid}`;
      return [
        [`GET ${path}/*`, { name: `search${whole}`, summary: `Search ${what}`, ...found }],
        [
          `POST ${path}/_search`,
          { name: `search${whole}ByForm`, summary: `Search ${what}, by form`, ...form },
        ],
        [
          `POST ${path}/*/_search`,
          { name: `searchAllOf${whole}ByForm`, summary: `Search ${what}, by form`, ...form },
        ],
        [
          `GET ${path}/{resource_type}`,
          { name: 'searchCompartment', summary: `Search a type in ${inside}`, ...found },
        ],
        [
          `POST ${path}/{resource_type}/_search`,
          {
            name: 'searchCompartmentByForm',
            summary: `Search a type in ${inside}, by form`,
            ...form,
          },
        ],
      ];
    }),
  );
}

/** Paths below the base, in which `{resource_type}` stands for a type. */
export const FHIR_SHAPES: readonly string[] = [
  ...new Set(Object.keys(FHIR_TEXTS).map((key) => key.slice(key.indexOf(' ') + 1))),
];
