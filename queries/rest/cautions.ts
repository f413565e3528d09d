/** How certain problems and allergies are, and how dangerous: what their lists in REST v1 don't say. */
import type { Pool } from 'pg';
import { codes } from '#src/fhir/parts.ts';
import type { Json } from '#src/shared/json.ts';

/** Codes of condition-ver-status and allergyintolerance-verification that say that something isn't certain. */
export const UNCERTAIN = ['unconfirmed', 'provisional', 'differential', 'presumed'] as const;

/** What there is to say of a resource. */
export interface Caution {
  readonly certainty: (typeof UNCERTAIN)[number] | undefined;
  /** Whether a reaction may be life-threatening: `criticality` `high` (allergy-intolerance-criticality). */
  readonly isCritical: boolean;
}

/** Returns the cautions of some resources, by id. It checks no right. */
export type Cautions = (ids: readonly string[]) => Promise<ReadonlyMap<string, Caution>>;

// Index: the primary key of resources.resource.
const CAUTIONS = `
select r.id, r.body::json -> 'verificationStatus' as verification, r.body::json ->> 'criticality' as criticality
from resources.resource r where r.id = any($1::uuid[]) and not r.deleted and octet_length(r.body) < 200000`;

/** Opens the question. */
export function openCautions(pool: Pool): Cautions {
  return async (ids) => {
    if (ids.length === 0) return new Map();
    const { rows } = await pool.query<{ id: string; verification: Json; criticality: string | null }>({
      name: 'cautions',
      text: CAUTIONS,
      values: [ids],
    });
    return new Map(
      rows.map(({ id, verification, criticality }): [string, Caution] => {
        const stated = codes(verification ?? undefined);
        const certainty = UNCERTAIN.find((code) => stated.includes(code));
        return [id, { certainty, isCritical: criticality === 'high' }];
      }),
    );
  };
}
