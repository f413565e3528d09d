/**
 * Shows when a record changed, and describes what changed between two points in time, in the sentences of the clinical
 * reading.
 */
import { z } from 'zod';
import type { CredentialNames } from '#queries/audit/names.ts';
import type { ClinicalEntry } from '#queries/rest/clinical-entries.ts';
import type { ChangedResource, StoredBody } from '#queries/rest/record-versions.ts';
import { referredMedication } from '#src/clinical/reading/medicine-subject.ts';
import { nameConcept } from '#src/clinical/reading/names/name.ts';
import type { Around } from '#src/clinical/reading/told.ts';
import { bareCodes } from '#src/clinical/summary/displays.ts';
import { containedIn, text } from '#src/fhir/parts.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { parseStored, printJson } from '#src/shared/json/json.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { type Micros, toInstant, toMicros } from '#src/shared/time/time.ts';
import { route } from '../../api/route.ts';
import { instant, LIST_QUERY, listSchema, PAGED } from '../../api/schemas.ts';
import { type Texts, texts } from '../../pages/texts.ts';
import type { Services } from '../../ports/services.ts';
import { elementLabel } from '../../reading/element-words.ts';
import { typeText } from '../../reading/kinds.ts';
import { originShape, readKeyNames, readOrigin } from '../../reading/origins.ts';
import { sayVersion, type VersionPlace, type VersionText } from '../../reading/version-text.ts';
import { past } from '../../rest/as-of.ts';
import { noteReads } from '../record-reads.ts';
import { LANGUAGE_QUERY } from './language-query.ts';
import { openRecord, RECORD_MODELS } from './open-record.ts';

const TAG = 'Patients';

const changeSchema = z
  .object({
    kind: z
      .enum(['added', 'changed', 'removed'])
      .describe(
        '`removed`: deleted, entered in error or refuted, including entries that were also added in between.',
      ),
    resource: z.string().describe('`<Type>/<id>`.'),
    type_text: z.string().describe('The type in words.'),
    version_before: z.int().nullable().describe('The version at the first time; null if there was none.'),
    version_after: z
      .int()
      .describe('The version at the second time; if the entry was deleted, the version of the deletion.'),
    versions: z.int().describe('Number of versions in between, including the last one.'),
    before: z.string().nullable().describe('What the entry said at the first time.'),
    after: z.string().nullable().describe('What the entry said at the second time; null if it was deleted.'),
    between: z
      .string()
      .nullable()
      .describe(
        'For an entry that was added and deleted in between: what it said last. Null for all other entries.',
      ),
    elements: z.array(z.string()).describe('Elements that differ, in words where there are some.'),
    at: instant.describe('When the last of the versions was stored.'),
    event_id: z
      .string()
      .describe('The event of that version, which `…/events/{event_id}` shows with its proof.'),
    ...originShape,
  })
  .meta({ id: 'RecordChange' });

type ChangeView = z.input<typeof changeSchema>;

const momentsSchema = z.object({
  data: z
    .array(
      z.object({
        from: instant,
        to: instant.describe('As of this time, the record has all versions in the stretch.'),
        versions: z.int(),
      }),
    )
    .describe('The oldest first.'),
  total: z.int().describe('Total number of versions.'),
});

/** Maximum number of stretches of time. */
const MOST_STRETCHES = 300;

/** The routes for a record's changes. */
export const CHANGE_ROUTES = [
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/patients/{patient_id}/moments',
    operationId: 'listRecordMoments',
    summary: 'When a patient’s record changed',
    description:
      'All versions of the record, in at most 300 stretches with about the same number of points in time each, for the steps of a slider. The answer shows no content, so the request isn’t in the access log.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    models: RECORD_MODELS,
    answers: { 200: { description: 'The stretches', schema: momentsSchema } },
    async run(request) {
      const { record } = await openRecord(request);
      const stretches = await request.services.recordReads.stretches(record, MOST_STRETCHES);
      const data = stretches.map(({ from, to, versions }) => ({
        from: toInstant(from),
        to: toInstant(to),
        versions,
      }));
      return { status: 200, body: { data, total: data.reduce((sum, { versions }) => sum + versions, 0) } };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/patients/{patient_id}/changes',
    operationId: 'listRecordChanges',
    summary: 'What changed in a patient’s record between two points in time, the newest first',
    description: `Lists each resource once, with what it said before and after. Provenance isn’t listed. ${PAGED}`,
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    models: RECORD_MODELS,
    query: z.strictObject({
      ...LIST_QUERY,
      ...LANGUAGE_QUERY,
      from: past.optional().describe('Versions after this time: ISO 8601 with an offset; default: all.'),
      to: past.optional().describe('Versions up to this time; default: now.'),
    }),
    answers: { 200: { description: 'A page', schema: listSchema(changeSchema) } },
    async run(request) {
      const { services, query, now } = request;
      const from = query.from === undefined ? 0 : toMicros(query.from);
      const { record, environment, asOf } = await openRecord(request, query.to ?? toInstant(now()));
      if (from > (asOf ?? now()))
        throw new Refusal('invalid', {
          code: 'value',
          diagnostics: 'query.from must not be later than query.to',
          expression: 'query.from',
        });
      const { limit, cursor } = query;
      const asked = { record, from, to: asOf ?? now(), endsNow: query.to === undefined, limit, cursor };
      const { rows, total, next, to } = await services.recordReads.changes(asked);
      const data = await viewChanges(services, texts(query.language), { record, from, to }, rows);
      const kind = { environment, action: 'changes', resourceType: null };
      await noteReads(request, kind, [{ record, count: data.length }]);
      return { status: 200, body: { data, total, next_cursor: next ?? null } };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/patients/{patient_id}/versions/{resource_type}/{resource_id}',
    operationId: 'listEntryVersions',
    summary: 'The versions of an entry of a patient’s record, the newest first',
    description: `Shows for each version what it says, what the previous one said, and the elements that differ. ${PAGED}`,
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    models: RECORD_MODELS,
    query: z.strictObject({ ...LIST_QUERY, ...LANGUAGE_QUERY }),
    answers: { 200: { description: 'A page', schema: listSchema(changeSchema) } },
    async run(request) {
      const { services, params, query, now } = request;
      const { resource_type: type, resource_id: id } = params;
      const { record, environment } = await openRecord(request);
      const { limit, cursor } = query;
      const page = await services.recordReads.versions({ record, type, id, limit, cursor });
      if (page.total === 0) throw notFound(type.slice(0, 64), id.slice(0, 64));
      const span = { record, from: now(), to: now() };
      const data = await viewChanges(services, texts(query.language), span, page.rows);
      const kind = { environment, action: 'history-instance', resourceType: type, resourceId: id };
      await noteReads(request, kind, [{ record, count: data.length }]);
      return { status: 200, body: { data, total: page.total, next_cursor: page.next ?? null } };
    },
  }),
];

/** Two points in time for a record. */
interface Span {
  readonly record: string;
  readonly from: Micros;
  readonly to: Micros;
}

async function viewChanges(
  services: Pick<Services, 'recordReads' | 'displays' | 'audit'>,
  say: Texts,
  { record, from, to }: Span,
  rows: readonly ChangedResource[],
): Promise<ChangeView[]> {
  const entries = rows.map((row) => ({
    row,
    before: makeEntry(row, row.before),
    after: makeEntry(row, row.after),
    between: makeEntry(row, row.between),
  }));
  const read = entries.flatMap(({ before, after, between }) =>
    [before, after, between].filter((each) => each !== undefined),
  );
  const ids = read.flatMap(({ value }) => referredMedication(value)?.split('/')[1] ?? []);
  const [then, now] = [services.recordReads.asOf(from), services.recordReads.asOf(to)];
  // A Medication that didn't exist at the earlier time gets its name from the later version.
  const referred = new Map([
    ...(await now.referred(record, ids)),
    ...(await then.referred(record, ids)),
    ...(await now.referred(record, [record])),
  ]);
  const others = new Map([...referred].map(([name, body]) => [name, parseStored(body)]));
  const keys = await readKeyNames(
    services,
    rows.map(({ metadata }) => metadata),
  );
  const names = await services.displays(bareCodes([...read.map(({ value }) => value), ...others.values()]));
  const place = (at: Micros): VersionPlace => ({
    say,
    names,
    patient: others.get(`Patient/${record}`) ?? {},
    around: makeAround(toInstant(at).slice(0, 10), others, names),
  });
  const [placeBefore, placeAfter] = [place(from), place(to)];
  const side = (at: VersionPlace, entry: ClinicalEntry | undefined): Side => ({
    value: entry?.value,
    said: entry === undefined ? undefined : sayVersion(at, entry),
  });
  return entries.map(({ row, before, after, between }) =>
    viewChange(say, row, keys, side(placeBefore, before), side(placeAfter, after), side(placeAfter, between)),
  );
}

function makeAround(
  today: string,
  others: ReadonlyMap<string, JsonObject>,
  names: ReadonlyMap<string, string>,
): Around {
  return {
    today,
    look: (reference, within) => {
      const [key = ''] = /[A-Za-z]+\/[0-9a-f-]{36}/.exec(text(reference) ?? '') ?? [];
      return containedIn(within, reference) ?? others.get(key);
    },
    name: (concept) => nameConcept(concept, names),
  };
}

/** Returns a version as an entry; undefined for a deletion, or for a version that is too large to read. */
function makeEntry({ type, id, at }: ChangedResource, stored: StoredBody | null): ClinicalEntry | undefined {
  if (stored === null || stored.body === null) return undefined;
  const { version, body } = stored;
  const value = parseStored(body);
  return { type, id, version, value, partOfAi: 'no', before: undefined, recorded: at / 1_000 };
}

/** A side of a change. */
interface Side {
  readonly value: JsonObject | undefined;
  readonly said: VersionText | undefined;
}

function viewChange(
  say: Texts,
  row: ChangedResource,
  keys: CredentialNames,
  before: Side,
  after: Side,
  between: Side,
): ChangeView {
  const { type, id, times, at, event, metadata } = row;
  const tooLarge = say('known.toolarge', { entries: 1 });
  const saidBefore = row.before === null ? null : (before.said?.text ?? tooLarge);
  const saidAfter = row.after.isDeleted ? null : (after.said?.text ?? tooLarge);
  return {
    kind: changeKind(row, before.said, after.said),
    resource: `${type}/${id}`,
    type_text: typeText(say, type),
    version_before: row.before?.version ?? null,
    version_after: row.after.version,
    versions: times,
    before: saidBefore,
    after: saidAfter,
    between: row.between === null ? null : (between.said?.text ?? tooLarge),
    elements: listElements(say, type, before.value, after.value),
    at: toInstant(at),
    event_id: event,
    ...readOrigin(say, metadata, keys),
  };
}

function changeKind(
  row: ChangedResource,
  before: VersionText | undefined,
  after: VersionText | undefined,
): ChangeView['kind'] {
  const isGone = row.after.isDeleted || after?.isWithdrawn === true;
  const wasGone = row.before === null || before?.isWithdrawn === true;
  if (isGone) return 'removed';
  return wasGone ? 'added' : 'changed';
}

/** Members that the service itself sets in every version. */
const OWN: readonly string[] = ['resourceType', 'id', 'meta'];

/** Returns the members that differ, in words where possible; an empty list if one side is missing. */
function listElements(
  say: Texts,
  type: string,
  before: JsonObject | undefined,
  after: JsonObject | undefined,
): string[] {
  if (before === undefined || after === undefined) return [];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const print = (value: JsonObject, name: string): string => {
    const member = value[name];
    return member === undefined ? '' : printJson(member);
  };
  const differ = [...names].filter(
    (name) => !OWN.includes(name) && print(before, name) !== print(after, name),
  );
  return [...new Set(differ.map((name) => elementLabel(say, name, type) ?? name))];
}
