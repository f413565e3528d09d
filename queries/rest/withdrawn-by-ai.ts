/**
 * What an AI marked as entered in error or refuted although somebody else had stated it: it is in no list, but may be true
 * (docs/decisions/0025-changed-by-ai-is-said.md).
 */
import type { Pool } from 'pg';
import { nameConcept } from '#src/clinical/reading/name.ts';
import { withdrawnAs } from '#src/clinical/reading/status.ts';

import { isObject } from '#src/shared/json.ts';

/** A resource that an AI withdrew. */
export interface WithdrawnByAi {
  readonly type: string;
  readonly id: string;
  /** Undefined for a resource that names nothing. */
  readonly name: string | undefined;
}

/** Returns those of a record, of some types. It checks no right. @param record the id of its Patient */
export type WithdrawnByAiIn = (record: string, types: readonly string[]) => Promise<readonly WithdrawnByAi[]>;

/** Texts that a withdrawn resource contains. */
const MARKS = ['entered-in-error', 'refuted'];

// Index: resources.resource_of_record (record, type, id); the primary key of history.version.
const WITHDRAWN = `
select r.type, r.id, r.body
from resources.resource r
where r.record = $1 and r.type = any($2) and not r.deleted
  and exists (select from unnest($3::text[]) m where strpos(r.body, m) > 0)
  and exists (
    select from history.version v
    where v.id = r.id and v.version = r.version and v.metadata::json #>> '{author,type}' = 'ai')
  and exists (
    select from history.version e
    where e.id = r.id and e.version < r.version and e.body is not null
      and e.metadata::json #>> '{author,type}' is distinct from 'ai')
order by r.id`;

/** Opens the question. */
export function openWithdrawnByAi(pool: Pool): WithdrawnByAiIn {
  return async (record, types) => {
    const { rows } = await pool.query<{ type: string; id: string; body: string }>({
      name: 'withdrawn-by-ai',
      text: WITHDRAWN,
      values: [record, types, MARKS],
    });
    return rows.flatMap(({ type, id, body }) => {
      const value: unknown = JSON.parse(body);
      if (!isObject(value) || withdrawnAs(value) === undefined) return [];
      const { code, vaccineCode, medicationCodeableConcept } = value;
      return [{ type, id, name: nameConcept(code ?? vaccineCode ?? medicationCodeableConcept) }];
    });
  };
}
