import { z } from 'zod';
import { listSearchParameters } from '#src/fhir/capability.ts';
import { type ResourceType, TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
import { isObject, type JsonObject, printJson } from '#src/shared/json/json.ts';
import { askSized, cutPage, findPatient, objectsIn, PAGE_BYTES, readPlace, readText } from '../ask.ts';
import { entryLine, isOfAi, printVersion } from '../entry-line.ts';
import type { Call, Reach } from '../reach.ts';
import { besideAi, entries, leftOutByScope, recordOutput, recordText } from '../record-content.ts';
import { AS_OF, COMMON, CURSOR, defineTool, LIMIT, TEXT_TOKENS } from '../tool.ts';

const TYPES = TYPE_NAMES.filter((type) => typeEntry(type).home !== 'terminology');

/** Parameters that all types have, or that this tool sets itself. */
const SHARED = new Set([
  '_id',
  '_lastUpdated',
  '_tag',
  '_profile',
  '_security',
  '_source',
  'patient',
  'subject',
]);

const PARAMETERS = TYPES.map((type) => {
  const own = listSearchParameters(type).filter((name) => !SHARED.has(name));
  return `${type}: ${own.join(', ')}`;
}).join('. ');

const value = z.union([z.string().max(2_000), z.array(z.string().max(2_000)).max(20)]);

/** Searches the record, or the directory of people and organizations that it refers to. */
export const searchRecord = defineTool({
  name: 'search_record',
  title: 'Search the record',
  description:
    'Searches FHIR R4 resources of one type by search parameters. Dates and quantities take the prefixes eq, ne, gt, ge, lt, le: `{"date": ["ge2025-01-01"]}`. Tokens are `code` or `system|code`; lookup_code finds codes. `_sort` and `_include` also work.',
  input: z.strictObject({
    ...COMMON,
    type: z.enum(TYPES).describe('The resource type.'),
    parameters: z
      .record(z.string().max(100), value)
      .default({})
      .describe(`Search parameters; a list means that all of them must match. By type: ${PARAMETERS}.`),
    limit: LIMIT,
    as_of: AS_OF,
    text_tokens: TEXT_TOKENS,
    cursor: CURSOR,
  }),
  output: recordOutput(z.object({ total: z.int().optional(), entries })),
  async run({ patient, type, parameters, limit, as_of, text_tokens, cursor }, reach) {
    const place = readPlace(cursor);
    const first = await firstPage(reach, type, patient);
    const call: Call =
      place.page === undefined
        ? { path: first.path, query: { ...parameters, ...first.query, _count: limit, _asOf: as_of } }
        : { path: first.path, query: readQuery(place.page) };
    const { json: bundle, size } = await askSized(reach, call);
    const all = objectsIn(bundle.entry);
    const found = all.flatMap(({ resource }) => (isObject(resource) ? [resource] : []));
    const included = new Set(
      all.flatMap(({ resource, search }) =>
        isObject(resource) && isObject(search) && search.mode === 'include' ? [printVersion(resource)] : [],
      ),
    );
    const isLong = (resource: JsonObject): boolean =>
      size > PAGE_BYTES && Buffer.byteLength(printJson(resource)) > PAGE_BYTES;
    const { items, next } = cutPage(
      found.map((each) => (isLong(each) ? stub(each) : each)),
      place,
      findNext(bundle),
      size,
    );
    const facts = items.filter((each) => !isOfAi(each));
    const long = items.filter(({ left_out }) => left_out !== undefined).map(printVersion);
    const { total } = bundle;
    const matches = facts.filter((each) => !included.has(printVersion(each))).length;
    const others = facts.length - matches;
    return {
      text: recordText(
        `${matches} ${type} ${matches === 1 ? 'resource' : 'resources'} on this page${others === 0 ? '' : `, and ${others} included`}${besideAi(items.length - facts.length)}`,
        facts.map(entryLine),
        text_tokens,
      ),
      structured: {
        record_content: { ...(total === undefined ? {} : { total }), entries: facts },
        ai_written: items.filter(isOfAi),
        incomplete: [
          ...leftOutByScope(await reach.grant(), [type], 's'),
          ...long.map((what) => ({ left_out_by: 'size', what: `${what}: read_resource gives it in parts` })),
        ],
        next_cursor: next,
      },
      versions: items.map(printVersion),
    };
  },
});

/** Returns where to search for a type: in the patient's record or in the directory. */
async function firstPage(
  reach: Reach,
  type: ResourceType,
  given: string | undefined,
): Promise<{ readonly path: string; readonly query: Readonly<Record<string, string>> }> {
  const path = `/fhir/R4/${type}`;
  const { home } = typeEntry(type);
  if (home === 'directory') return { path, query: {} };
  const patient = await findPatient(reach, given);
  if (type === 'Patient') return { path, query: { _id: patient } };
  return { path: `/fhir/R4/Patient/${patient}/${type}`, query: {} };
}

/** Returns the query for the next page; undefined on the last page. */
function findNext({ link }: JsonObject): string | undefined {
  const next = objectsIn(link).find(({ relation }) => relation === 'next');
  const url = readText(next?.url);
  return url === undefined ? undefined : new URL(url).search.slice(1);
}

/** Returns a query in the form that calls use. */
function readQuery(text: string): Record<string, readonly string[]> {
  const query = new URLSearchParams(text);
  return Object.fromEntries([...new Set(query.keys())].map((name) => [name, query.getAll(name)]));
}

/** Returns a placeholder for a resource that doesn't fit in a page. */
function stub({ resourceType = '', id = '', meta = {} }: JsonObject): JsonObject {
  return { resourceType, id, meta, left_out: 'size' };
}
