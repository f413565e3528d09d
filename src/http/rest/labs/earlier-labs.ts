/** Finds the resources that earlier reports of the same results created. */
import type { CurrentResource } from '#queries/read.ts';
import { seesType } from '#queries/sight.ts';
import { draftKey, keysIn } from '#src/labs/decide.ts';
import { type Draft, LAB_SYSTEM, type LabType, type Notes } from '#src/labs/labs.ts';
import { isOfSender } from '#src/labs/order-key.ts';
import { type JsonObject, parseStored } from '#src/shared/json/json.ts';
import { makeToken } from '../list.ts';
import type { RestRequest } from '../record.ts';

/** A resource's current version with its parsed body. The body is parsed only once, because there may be thousands. */
export type Stored = CurrentResource & { readonly body: string; readonly resource: JsonObject };

/** Maximum number of keys per search. */
const KEYS = 100;

/**
 * Returns the resources that earlier reports created for the same results, by type and key. A resource that has a draft's
 * former key is returned only if it certainly has the same sender. If such a resource isn't recognized, the result is merely
 * stored in addition to it and noted; but if another laboratory's resource were recognized by mistake, it would be replaced.
 * @param notes receives a note about each result whose former key belongs to a resource from an unknown or different sender
 */
export async function findEarlier(
  request: RestRequest,
  patient: string,
  drafts: readonly Draft[],
  notes: Notes,
): Promise<Map<string, Stored>> {
  await request.services.freshness.catchUp(['search', 'resources']);
  const found = new Map<string, Stored>();
  for (const type of new Set(drafts.map((draft) => draft.type))) {
    const ofType = drafts.filter((draft) => draft.type === type);
    const stored = await findByKeys(
      request,
      patient,
      type,
      ofType.map(({ key }) => key),
    );
    const without = ofType.filter(({ key, former }) => former !== undefined && !stored.has(key));
    const formerly = await findByKeys(
      request,
      patient,
      type,
      without.flatMap(({ former }) => former?.key ?? []),
    );
    const written = await readWriters(request, [...formerly.values()]);
    for (const { key, place, former } of without) {
      const one = former === undefined ? undefined : formerly.get(former.key);
      if (one === undefined || former === undefined) continue;
      const { current, first } = written(one);
      if (isOfSender(former.sender, one.resource, current, first)) stored.set(key, one);
      else if (type !== 'Specimen')
        notes.warn(
          place,
          'the record has a result with the same number, which an earlier version of Annal stored without its laboratory; it isn’t certainly of this sender, so both are kept',
        );
    }
    for (const [key, one] of stored) found.set(draftKey({ type, key }), one);
  }
  return found;
}

/** Returns the oldest resource for each of the given keys. */
async function findByKeys(
  { services, caller, pass }: RestRequest,
  patient: string,
  type: LabType,
  keys: readonly string[],
): Promise<Map<string, Stored>> {
  const found = new Map<string, Stored>();
  for (let from = 0; from < keys.length; from += KEYS) {
    const tokens = keys.slice(from, from + KEYS).map((key) => makeToken(LAB_SYSTEM, key));
    const page = await services.queries.search(caller, {
      type,
      record: patient,
      base: `${services.config.baseUrl}/fhir/R4/`,
      query: new URLSearchParams([
        ['identifier', tokens.join(',')],
        ['_count', '200'],
        ['_total', 'none'],
      ]),
    });
    if (pass !== undefined && seesType(caller.sees, type, 's'))
      pass.searched(type, tokens.join(','), page.matches.length);
    for (const match of page.matches) {
      if (match.body === null) continue;
      const stored = { ...match, body: match.body, resource: parseStored(match.body) };
      for (const key of keysIn(stored.resource)) {
        const before = found.get(key);
        if (before === undefined || before.id > stored.id) found.set(key, stored);
      }
    }
  }
  return found;
}

/** Returns a function that looks up who wrote the current and first versions of the given resources. */
async function readWriters({ services, caller }: RestRequest, stored: readonly Stored[]) {
  if (stored.length > 0) await services.freshness.catchUp(['history']);
  const current = await services.queries.marks(caller, stored);
  const first = await services.queries.marks(
    caller,
    stored.map(({ id }) => ({ id, version: 1 })),
  );
  return ({ id }: Stored) => ({ current: current.get(id)?.metadata, first: first.get(id)?.metadata });
}
