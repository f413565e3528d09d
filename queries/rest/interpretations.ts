/**
 * Reads from observations how laboratories and devices interpreted the values, and when results without a date were reported.
 */
import type { Pool } from 'pg';
import { z } from 'zod';
import type { JsonObject } from '#src/shared/json/json.ts';

/** The data about an observation that REST v1 doesn't show. */
export interface Judged {
  /** The observation's interpretation codes, including those of its components; undefined if it has none. */
  readonly interpretations: readonly string[] | undefined;
  /** `issued`, if the observation doesn't say when the value was measured. */
  readonly reported: string | undefined;
}

/** Returns the interpretations of the given observations, and when they were reported. Doesn't check permissions. */
export type Interpretations = (ids: readonly string[]) => Promise<ReadonlyMap<string, Judged>>;

// Index: the primary key of resources.resource.
const INTERPRETATIONS = `
select r.id, r.body::json ->> 'interpretation' as own, r.body::json ->> 'component' as parts,
  strpos(r.body, '"interpretation"') > 0 as judged,
  case when r.body ~ '"effective(DateTime|Instant|Period)"' then null else r.body::json ->> 'issued' end as reported
from resources.resource r
where r.id = any($1::uuid[]) and not r.deleted
  and (strpos(r.body, '"interpretation"') > 0 or (strpos(r.body, '"issued"') > 0
    and r.body !~ '"effective(DateTime|Instant|Period)"'))`;

const SYSTEM = 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation';

const concepts = z
  .array(
    z.object({
      coding: z.array(z.object({ system: z.string().optional(), code: z.string().optional() })).optional(),
    }),
  )
  .nullish();
const components = z.array(z.object({ interpretation: concepts })).nullable();

interface Row {
  readonly id: string;
  readonly own: string | null;
  readonly parts: string | null;
  readonly judged: boolean;
  readonly reported: string | null;
}

/** Opens the question. */
export function openInterpretations(pool: Pool): Interpretations {
  return async (ids) => {
    if (ids.length === 0) return new Map();
    const { rows } = await pool.query<Row>({
      name: 'interpretations',
      text: INTERPRETATIONS,
      values: [ids],
    });
    return new Map(
      rows.map(({ id, own, parts, judged, reported }): [string, Judged] => {
        const said = readCodes(parseOrNull(own), parseOrNull(parts));
        return [id, { interpretations: judged ? said : undefined, reported: reported ?? undefined }];
      }),
    );
  };
}

function parseOrNull(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}

/** Returns the interpretation codes of an observation and its components. */
function readCodes(interpretation: unknown, component: unknown): readonly string[] {
  const ofParts = components.parse(component) ?? [];
  const all = [
    ...(concepts.parse(interpretation) ?? []),
    ...ofParts.flatMap((part) => part.interpretation ?? []),
  ];
  const codings = all.flatMap(({ coding = [] }) => coding);
  return codings.flatMap(({ system, code }) => (system === SYSTEM && code ? [code] : []));
}

/** Returns the data that REST v1 doesn't show about an observation that has already been read. */
export function readJudged({ interpretation, component, issued, ...value }: JsonObject): Judged {
  const isDated = ['DateTime', 'Instant', 'Period'].some((type) => value[`effective${type}`] !== undefined);
  const said = readCodes(interpretation ?? null, component ?? null);
  return {
    interpretations: said.length === 0 ? undefined : said,
    reported: isDated || typeof issued !== 'string' ? undefined : issued,
  };
}
