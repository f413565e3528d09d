/** Reads how laboratories and devices judge values: the interpretations of observations. */
import type { Pool } from 'pg';
import { z } from 'zod';

/** Returns the interpretation codes of some observations, those of their components included. It checks no right. */
export type Interpretations = (ids: readonly string[]) => Promise<ReadonlyMap<string, readonly string[]>>;

// Index: the primary key of resources.resource.
const INTERPRETATIONS = `
select r.id, r.body::json ->> 'interpretation' as own, r.body::json ->> 'component' as parts
from resources.resource r
where r.id = any($1::uuid[]) and not r.deleted and strpos(r.body, '"interpretation"') > 0`;

const SYSTEM = 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation';

const concepts = z
  .array(
    z.object({
      coding: z.array(z.object({ system: z.string().optional(), code: z.string().optional() })).optional(),
    }),
  )
  .nullish();
const components = z.array(z.object({ interpretation: concepts })).nullable();

/** Opens the question. */
export function openInterpretations(pool: Pool): Interpretations {
  return async (ids) => {
    if (ids.length === 0) return new Map();
    const { rows } = await pool.query<{ id: string; own: string | null; parts: string | null }>({
      name: 'interpretations',
      text: INTERPRETATIONS,
      values: [ids],
    });
    return new Map(
      rows.map(({ id, own, parts }) => {
        const ofParts = components.parse(parts === null ? null : JSON.parse(parts)) ?? [];
        const all = [
          ...(concepts.parse(own === null ? null : JSON.parse(own)) ?? []),
          ...ofParts.flatMap(({ interpretation }) => interpretation ?? []),
        ];
        const codings = all.flatMap(({ coding = [] }) => coding);
        return [id, codings.flatMap(({ system, code }) => (system === SYSTEM && code ? [code] : []))];
      }),
    );
  };
}
