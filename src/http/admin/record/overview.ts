/** Shows a record at a glance, now or as of an earlier time, as the clinical reading presents it (docs/clinical-reading.md). */
import { z } from 'zod';
import type { ClinicalEntry } from '#queries/rest/clinical-entries.ts';
import type { VersionOf } from '#queries/rest/marks.ts';
import type { StoredResult } from '#queries/rest/newest-results.ts';
import { bareCodes, withDisplays } from '#src/clinical/summary/displays.ts';
import { notFound } from '#src/shared/refusal.ts';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import type { TimelineKind } from '#src/v1/timeline.ts';
import { route } from '../../api/route.ts';
import { capital } from '../../pages/capital.ts';
import { resultName } from '../../pages/result-names.ts';
import { type Texts, texts } from '../../pages/texts.ts';
import type { Services } from '../../ports/services.ts';
import { typeText } from '../../reading/kinds.ts';
import { interpretEntries } from '../../reading/known.ts';
import { abnormalAmong, groupMeasures, unjudgedAmong } from '../../reading/measures.ts';
import { readOrigins } from '../../reading/origins.ts';
import { type ReadResults, readResults } from '../../reading/stored-results.ts';
import { readReplacedResults } from '../../reading/value-changes.ts';
import { PAST_QUERY } from '../../rest/as-of.ts';
import { noteReads } from '../record-reads.ts';
import { viewPerson } from './banner.ts';
import { LANGUAGE_QUERY } from './language-query.ts';
import { type OpenedRecord, openRecord, RECORD_MODELS } from './open-record.ts';
import {
  type OverviewView,
  overviewSchema,
  type ResultsPlace,
  viewList,
  viewMeasure,
  viewResult,
} from './overview-view.ts';
import { viewPlans } from './plans.ts';
import { type EventsPage, readEvents } from './timeline.ts';

/** The route for overviews. */
export const OVERVIEW_ROUTES = [
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/patients/{patient_id}/overview',
    operationId: 'getRecordOverview',
    summary: 'What a patient’s record says, now or at a given time',
    description:
      'Allergies, medicines, problems, vaccinations, care plans, goals, the newest procedures and visits, and results as sentences of the clinical reading, each with its entry, its author and its source. In production, this requires the role auditor, admin or owner; without such a role, the answer is 404.',
    tag: 'Patients',
    credential: 'identity',
    grantToken: 'refused',
    models: RECORD_MODELS,
    query: z.strictObject({ ...PAST_QUERY, ...LANGUAGE_QUERY }),
    answers: { 200: { description: 'The overview', schema: overviewSchema } },
    async run(request) {
      const { services, query } = request;
      const opened = await openRecord(request, query.as_of);
      const { environment, record } = opened;
      const say = texts(query.language);
      const newest = (kind: TimelineKind) =>
        readEvents(request, opened, say, { limit: MOST_EVENTS, kinds: [kind] });
      const body = await readOverview(services, opened, say, newest);
      const count = body.counts.reduce((sum, each) => sum + each.count, 0);
      await noteReads(request, { environment, action: 'overview', resourceType: null }, [{ record, count }]);
      return { status: 200, body };
    },
  }),
];

/** Types that are read in addition to the types in the clinical reading. */
const ALSO = ['CarePlan', 'Goal'];

/** Maximum number of procedures shown; also of visits. */
const MOST_EVENTS = 3;

async function readOverview(
  services: Pick<Services, 'queries' | 'recordReads' | 'displays' | 'audit'>,
  { record, caller, asOf, environment }: OpenedRecord,
  say: Texts,
  newest: (kind: TimelineKind) => Promise<EventsPage>,
): Promise<OverviewView> {
  const at = asOf ?? nowMicros();
  const today = toInstant(at).slice(0, 10);
  const then = services.recordReads.asOf(asOf);
  const [entries, results, counts, position, procedures, visits] = await Promise.all([
    then.clinicalEntries(record, ALSO),
    then.newestResults(record),
    then.typeCounts(record),
    services.recordReads.position(record, at),
    readNewest(say, 'procedure', newest),
    readNewest(say, 'encounter', newest),
  ]);
  if (entries.person === undefined) throw notFound('Patient', record);
  const known = await interpretEntries(entries, services.displays, today);
  const read = await readResults(results.results, services.displays);
  const plans = entries.entries.filter(({ type }) => ALSO.includes(type));
  const names = await services.displays(bareCodes(plans.map(({ value }) => value)));
  const named = plans.map((plan): ClinicalEntry => withDisplays(plan, names));
  const findOrigin = await readOrigins(services, caller, say, [...entries.entries, ...results.results]);
  const place = { say, known, findOrigin };
  return {
    patient: viewPerson(say, entries.person, today),
    environment,
    as_of: toInstant(at),
    is_now: asOf === undefined,
    language: say.lang,
    position:
      position === undefined
        ? null
        : { versions: position.versions, recorded: toInstant(position.at), event_id: position.event },
    counts: [...counts].map(([type, count]) => ({ type, text: typeText(say, type), count })),
    allergies: viewList(place, 'allergies'),
    medicines: viewList(place, 'medicines'),
    problems: viewList(place, 'problems'),
    vaccinations: viewList(place, 'vaccinations'),
    care_plans: viewPlans(place, 'care_plan', named),
    goals: viewPlans(place, 'goal', named),
    procedures,
    visits,
    results: viewResults(say, read, results.notDone, {
      findOrigin,
      findVersion: findVersions(results.results),
      findReplaced: findReplacedResults(results.results),
    }),
    too_large: [...entries.tooLarge, ...results.tooLarge],
  };
}

/** Returns the newest events of a kind; events that an AI wrote are listed separately. */
async function readNewest(
  say: Texts,
  kind: 'procedure' | 'encounter',
  newest: (kind: TimelineKind) => Promise<EventsPage>,
): Promise<OverviewView['procedures']> {
  const { data, total } = await newest(kind);
  const isByAi = (each: EventsPage['data'][number]): boolean => each.author.type === 'ai';
  return {
    title: capital(say, say(kind === 'procedure' ? 'things.procedures' : 'things.encounters')),
    kind,
    newest: data.filter((each) => !isByAi(each)),
    unverified: data.filter(isByAi),
    total,
    none: total > 0 ? null : say(kind === 'procedure' ? 'health.noprocedures' : 'health.novisits'),
  };
}

/** Returns a function that returns the earlier results that later versions of a given result replaced. */
function findReplacedResults(results: readonly StoredResult[]): ResultsPlace['findReplaced'] {
  const changed = new Map(results.map(({ id, replaced = [] }) => [id, readReplacedResults(id, replaced)]));
  return (id) => changed.get(id) ?? [];
}

function findVersions(results: readonly VersionOf[]): (id: string) => number {
  const versions = new Map(results.map(({ id, version }) => [id, version]));
  return (id) => versions.get(id) ?? 0;
}

function viewResults(
  say: Texts,
  { observations, modified }: ReadResults,
  notDone: number,
  place: ResultsPlace,
): OverviewView['results'] {
  const measures = groupMeasures(say, observations);
  const kinds = measures.filter(({ facts }) => facts.length > 0);
  const abnormal = abnormalAmong(kinds);
  const unjudged = unjudgedAmong(kinds).length;
  const none = unjudged === kinds.length ? 'results.nonejudged' : 'results.noneabnormal';
  return {
    abnormal: abnormal.flatMap((measure) => viewMeasure(say, measure, place)),
    abnormal_none: abnormal.length > 0 ? null : say(kinds.length === 0 ? 'results.none' : none),
    latest: kinds.flatMap((measure) => viewMeasure(say, measure, place)),
    unverified: measures.flatMap(({ notes }) =>
      notes.map((note) => viewResult(say, resultName(say, note), note, place)),
    ),
    unjudged,
    left_out: [...modified],
    not_done: notDone,
  };
}
