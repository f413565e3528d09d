/**
 * Lists records in REST v1, newest first, using the same searches as the FHIR interface (docs/spec/decisions.md, section 4).
 */
import { z } from 'zod';
import { decodeCursorFor, encodeCursorFor } from '#queries/cursor.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { requireFilled } from '#src/shared/access/caller.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { RouteResult } from '../api/route.ts';
import { type RestRequest, shownCursor, shownRecords } from './record.ts';

/** Read models on which lists are based. */
export const LIST_MODELS = ['resources', 'history', 'search'];

/** The filters for a list, and the requested page. */
export interface Listed {
  readonly type: ResourceType;
  /** Restricts the list to this patient's record. */
  readonly patient?: string;
  /** Search parameters. */
  readonly criteria: readonly (readonly [string, string])[];
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** The point in time as of which the patient's record is listed. The request's caller also reads as of that time. */
  readonly asOf?: string | undefined;
}

/** The `total` that was counted for the first page, and where the search continues. */
const place = z.tuple([z.int(), z.string()]);

/**
 * Lists a page of records. Records created after the first page don't appear on later pages, and no record appears twice.
 * @throws Refusal invalid (422) for a cursor from another list.
 */
export async function listRecords(
  request: RestRequest,
  { type, patient, criteria, limit, cursor, asOf }: Listed,
  fields: (resource: JsonObject) => object,
): Promise<RouteResult> {
  const { services, caller } = request;
  requireFilled(caller.sees);
  const list = JSON.stringify([type, patient, criteria, ...(asOf === undefined ? [] : [asOf])]);
  const [counted, next] = cursor === undefined ? [] : decodeCursorFor(list, cursor, place);
  await services.freshness.catchUp(['search', 'resources']);
  const query = new URLSearchParams([
    ...criteria.map(([name, value]): [string, string] => [name, value]),
    // Sorted by id, because ids are in order of creation.
    ['_sort', '-_id'],
    ['_count', String(limit)],
    ['_total', counted === undefined ? 'accurate' : 'none'],
    ...(next === undefined ? [] : [['_cursor', next] satisfies [string, string]]),
  ]);
  const asked = {
    type,
    query,
    base: `${services.config.baseUrl}/fhir/R4/`,
    ...(patient === undefined ? {} : { record: patient }),
  };
  const searched =
    asOf === undefined || patient === undefined
      ? services.queries.search(caller, asked)
      : services.queries.searchRecord(caller, { record: patient, types: [type] }, ({ search }) =>
          search(caller, asked),
        );
  const page = await searched.catch((error: unknown) => {
    throw refusedInput(error, next !== undefined);
  });
  const found = page.matches.flatMap((match) =>
    match.body === null ? [] : [{ ...match, body: match.body }],
  );
  const total = counted ?? page.total ?? found.length;
  return {
    status: 200,
    shown: found.length,
    body: {
      data: await shownRecords(request, found, fields),
      total,
      next_cursor: shownCursor(request, page.next && encodeCursorFor(list, [total, page.next])),
    },
  };
}

/** Invalid v1 queries get 422, and the cursor is the only part of a search that v1 does not generate itself. */
function refusedInput(error: unknown, paged: boolean): unknown {
  if (!paged || !(error instanceof Refusal) || error.kind !== 'malformed') return error;
  return new Refusal('invalid', {
    code: 'value',
    diagnostics: 'query.cursor is not a cursor of this list; start again without it',
    expression: 'query.cursor',
  });
}

/** Returns text as a search value, with special characters escaped. */
export function escaped(text: string): string {
  return text.replaceAll(/[\\,$|]/g, '\\$&');
}

/** Returns the search value for a token. */
export function makeToken(system: string, code: string): string {
  return `${escaped(system)}|${escaped(code)}`;
}
