/** Describes the FHIR interface's query parameters in the OpenAPI document. */
import type { FhirText } from './fhir-texts.ts';
import type { Part } from './schemas.ts';

const query = (name: string, description: string, schema: Part = { type: 'string' }): Part => ({
  name,
  in: 'query',
  description,
  schema,
});

const COUNT = query('_count', 'Number of entries per page, at most 200.', {
  type: 'integer',
  minimum: 0,
  default: 50,
});
const SHAPE = [
  query('_summary', '`true`, `text`, `data`, `count` or `false`.'),
  query('_elements', 'Names of the elements to return, separated by commas.'),
];

const CRITERIA: Part = {
  ...query(
    'criteria',
    'R4’s search parameters for the type, each under its own name, as `/metadata` lists them.',
    {
      type: 'object',
      additionalProperties: { type: 'string' },
    },
  ),
  style: 'form',
  explode: true,
};

/** `_pretty`, for every GET and POST. */
export const PRETTY = query('_pretty', 'JSON with line breaks and indents.', {
  type: 'boolean',
  default: false,
});

/** `_asOf`, where the route or operation accepts it. */
export const AS_OF_QUERY: Part = {
  ...query(
    '_asOf',
    'Answers as of this time, with the versions that were current then. A search must name one Patient.',
    { type: 'string', format: 'date-time' },
  ),
  example: '2026-03-01T08:00:00Z',
};

/** The parameters for each kind of interaction. */
export const OF_QUERY: Readonly<Record<NonNullable<FhirText['parameters']>, readonly Part[]>> = {
  criteria: [CRITERIA],
  search: [
    COUNT,
    ...SHAPE,
    query('_sort', 'Codes to sort by, separated by commas; a leading `-` sorts in descending order.'),
    query('_include', '`Type:parameter`: also include the resources to which the matches refer.'),
    query('_revinclude', '`Type:parameter`: also include the resources that refer to the matches.'),
    CRITERIA,
  ],
  history: [
    COUNT,
    ...SHAPE,
    query('_since', 'Only versions recorded since this instant.'),
    query('_at', 'Only versions that were current at that time.'),
  ],
  summary: SHAPE,
  purge: [
    query('_purge', 'For a Patient: remove the whole record physically.', {
      type: 'boolean',
      default: false,
    }),
  ],
};
