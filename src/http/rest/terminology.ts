/** Looks up codes in LOINC and ATC for REST v1 (docs/spec/interface.md, section 4.3; docs/spec/decisions.md, section 4). */

import { z } from 'zod';
import { cut } from '#src/shared/cut.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { ATC, LOINC } from '#src/v1/elements.ts';
import { route } from '../api/route.ts';
import { listSchema, wholeNumber } from '../api/schemas.ts';

const TAG = 'Terminology';

const SYSTEMS: Readonly<Record<string, string>> = { loinc: LOINC, atc: ATC };

const codeSchema = z
  .object({
    system: z.string().describe('URI of the code system.'),
    code: z.string(),
    display: z.string().nullable(),
    category: z.string().nullable().describe('The category of an observation with this code.'),
    unit: z.string().nullable().describe('The usual unit of the measurement, in UCUM.'),
  })
  .meta({ id: 'Code' });

export const TERMINOLOGY_ROUTES = [
  route({
    method: 'GET',
    path: '/v1/terminology/{system}',
    operationId: 'findCodes',
    summary: 'Codes of `loinc` or `atc` by typed text',
    description:
      'A code or its beginning, a name that people use (`tsh`, `blood sugar`, `aspirin`), the beginning of a name, or some of its words, in British or American spelling, singular or plural. If no known word begins with a word of yours, the most similar words are used. Among equally good matches, the most common code comes first. `total` counts at most 1,000 matches.',
    tag: TAG,
    credential: 'api_key',
    grantToken: { action: 'terminology', needs: [], type: null },
    models: [],
    query: z.strictObject({
      q: z.string().max(80).regex(/\S/, 'must not be blank').describe('1 to 80 characters.'),
      limit: wholeNumber(1, 50, 20).describe('Maximum number of codes in the answer.'),
    }),
    answers: { 200: { description: 'The codes, the best first', schema: listSchema(codeSchema) } },
    async run({ services, params, query }) {
      const system = systemNamed(params.system);
      const { codes, total } = await services.queries.findCodes(system, query.q, query.limit);
      const data = codes.map(({ code, display, category, unit }) => ({
        system,
        code,
        display,
        category,
        unit,
      }));
      return { status: 200, body: { data, total, next_cursor: null }, shown: 0 };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/terminology/{system}/{code}',
    operationId: 'getCode',
    summary: 'A code of `loinc` or `atc`',
    description: 'Looks up the code in the bundled or loaded terminology. An unknown code returns 404.',
    tag: TAG,
    credential: 'api_key',
    grantToken: { action: 'terminology', needs: [], type: null },
    models: [],
    answers: { 200: { description: 'The code', schema: codeSchema } },
    async run({ services, params }) {
      const system = systemNamed(params.system);
      const known = await services.describeCode(system, params.code);
      if (known === undefined)
        throw unknown(
          `unknown code ${cut(params.code, 60)} of ${params.system}; \`annal terminology load\` adds codes`,
        );
      const { code, display, category, unit } = known;
      return { status: 200, body: { system, code, display, category, unit }, shown: 0 };
    },
  }),
];

function systemNamed(name: string): string {
  const system = Object.hasOwn(SYSTEMS, name) ? SYSTEMS[name] : undefined;
  if (system === undefined)
    throw unknown(`unknown system; the systems are ${Object.keys(SYSTEMS).join(' and ')}`);
  return system;
}

function unknown(diagnostics: string): Refusal {
  return new Refusal('not_found', { code: 'not-found', diagnostics });
}
