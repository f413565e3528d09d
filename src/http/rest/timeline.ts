/** Serves REST v1's timeline (docs/spec/interface.md, sections 2.3 and 4.3; docs/spec/decisions.md, section 4). */
import { z } from 'zod';
import type { TimelineEntry } from '#queries/rest/timeline.ts';
import { seesType } from '#queries/sight.ts';
import { MEANINGS, type Meaning } from '#src/clinical/reading/dates.ts';
import { labelCode } from '#src/clinical/reading/names/name.ts';
import type { SystemCode } from '#src/fhir/terminology.ts';
import { hasLetters } from '#src/shared/access/access.ts';
import { AUTHOR_TYPES } from '#src/shared/access/author.ts';
import { accessIn, type Caller } from '#src/shared/access/caller.ts';
import { requireOnType } from '#src/shared/access/outside-grant.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { nameList as listName } from '#src/v1/lists.ts';
import { withNames } from '#src/v1/phrase.ts';
import {
  DEFAULT_KINDS,
  medicationTitle,
  TIMELINE,
  TIMELINE_KINDS,
  type TimelineKind,
  type TimelineType,
  timelineKind,
} from '#src/v1/timeline.ts';
import { route } from '../api/route.ts';
import { LIST_QUERY, listSchema } from '../api/schemas.ts';
import { atMoment, PAST_QUERY } from './as-of.ts';
import { dayRange, daysInOrder } from './days.ts';
import { type Displays, findDisplay, readDisplays } from './displays.ts';
import { LISTING_MODELS, listing } from './listing.ts';
import { type RestRequest, resourceIn, shownCursor } from './record.ts';
import { date, FIRST_DAY, LAST_DAY } from './schemas.ts';

const kind = z.enum(TIMELINE_KINDS);

/** Sorted, so that a cursor stays valid if the same kinds are named explicitly. */
const DEFAULT = [...DEFAULT_KINDS].sort();

/** The letters that a grant must have for the types shown (docs/spec/decisions.md, section 9, "Letters"). */
const LETTERS = 'rs';

const ONE = `(?:${TIMELINE_KINDS.join('|')})`;

const kinds = z
  .string()
  .max(200)
  .regex(
    new RegExp(`^${ONE}(?:,${ONE})*$`),
    `must be one or more of ${TIMELINE_KINDS.join(', ')}, separated by commas`,
  )
  .transform((text) => [...new Set(text.split(','))].sort())
  .pipe(z.array(kind));

const entrySchema = z
  .object({
    kind,
    id: z.string(),
    date: z
      .string()
      .describe('As precise as in the record; if the record has no date, when it was recorded.'),
    date_means: z
      .enum([...MEANINGS, 'entered'])
      .describe(
        'The meaning of the date; `entered` if the record has none and it is the date of entry here.',
      ),
    title: z.string(),
    summary: z.string().nullable().describe('The finding and its state.'),
    author_type: z.enum(AUTHOR_TYPES),
    fhir: z.string().describe('`<Type>/<id>` on the FHIR interface.'),
    version: z.int().describe('The version that the entry shows.'),
  })
  .meta({ id: 'TimelineEntry' });

/** An entry in a response. */
export interface TimelineView {
  readonly kind: TimelineKind | undefined;
  readonly id: string;
  readonly date: string;
  readonly date_means: Meaning | 'entered';
  readonly title: string;
  readonly summary: string | null;
  readonly author_type: string;
  /** `Type/id`. */
  readonly fhir: string;
  readonly version: number;
}

/** The query parameters for timelines. */
export const TIMELINE_QUERY = {
  ...LIST_QUERY,
  ...PAST_QUERY,
  from: date.optional().describe(FIRST_DAY),
  to: date.optional().describe(LAST_DAY),
  kinds: kinds.optional().describe(`Some of ${TIMELINE_KINDS.join(', ')}, separated by commas.`),
};

/** The route for timelines. */
export const TIMELINE_ROUTES = [
  route({
    method: 'GET',
    path: '/v1/patients/{patient_id}/timeline',
    operationId: 'getTimeline',
    summary: 'Events of a patient’s care, the newest first',
    description:
      'Documents, observations, medications and conditions, unless `kinds` asks for others. Resources that were entered in error or refuted, or have a modifier extension, are left out. Under a grant, so are types without the letters `r` and `s`; naming one in `kinds` is refused.',
    tag: 'Timeline and context',
    credential: 'api_key',
    grantToken: { action: 'timeline', needs: [], type: null },
    models: LISTING_MODELS,
    query: z.strictObject(TIMELINE_QUERY).superRefine(daysInOrder),
    answers: { 200: { description: 'A page', schema: listSchema(entrySchema) } },
    async run(sent) {
      const { as_of: asOf, ...asked } = sent.query;
      const request = await atMoment(sent, asOf);
      const { data, total, next } = await readTimeline(request, request.params.patient_id, asked);
      return {
        status: 200,
        body: { data, total, next_cursor: shownCursor(request, next) },
        shown: data.length,
      };
    },
  }),
];

/** The entries to read. */
export interface AskedTimeline {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly kinds?: readonly TimelineKind[] | undefined;
}

/**
 * Reads a page of a record's timeline.
 * @throws Refusal
 */
export async function readTimeline(
  request: RestRequest,
  patient: string,
  { from, to, kinds, ...page }: AskedTimeline,
): Promise<{
  readonly data: readonly TimelineView[];
  readonly total: number;
  readonly next: string | undefined;
}> {
  const { services, caller } = request;
  const types = typesShown(caller, kinds);
  const of = { patient, types, letters: LETTERS, lists: types.map((type) => listName(type)) };
  const { rows, total, next } = await listing(request, patient, () =>
    services.queries.timeline(caller, { ...of, ...dayRange({ from, to }) }, page),
  );
  const isNamed = seesType(caller.sees, 'Medication', 'r');
  const titles = rows.map((row) => entryTitle(isNamed ? row : { ...row, referred: '' }));
  const codes = [...titles.flatMap(bareTitle), ...rows.flatMap(({ summaryCodes }) => summaryCodes)];
  const displays = await readDisplays(request, codes);
  const data = rows.map((row, n) => renderEntry(row, titles[n] ?? row, displays));
  return { data, total, next };
}

/**
 * Returns the types in a timeline: by default, the types that a grant or a client's scopes cover.
 * @param kinds the kinds that the request names
 * @throws Refusal forbidden (403) if the request names a kind outside the grant
 */
function typesShown({ sees }: Caller, kinds?: readonly TimelineKind[]): TimelineType[] {
  const types = (kinds ?? DEFAULT).map((each) => TIMELINE[each]);
  if (kinds !== undefined) for (const type of types) requireOnType(sees, type, LETTERS);
  const access = accessIn(sees);
  return types.filter((type) => access === undefined || hasLetters(access, type, LETTERS));
}

type Title = Pick<TimelineEntry, 'title' | 'titleSystem'>;

/** Returns an entry's title. A medication's title comes from the Medication that the entry refers to. */
function entryTitle({ title, titleSystem, referred }: TimelineEntry): Title {
  const named = referred === '' ? undefined : medicationTitle(resourceIn(referred));
  return named ?? { title, titleSystem };
}

/** Returns the code that an entry has instead of a title. */
function bareTitle({ title: code, titleSystem: system }: Title): SystemCode[] {
  return system === null ? [] : [{ system, code }];
}

function renderEntry(entry: TimelineEntry, title: Title, displays: Displays): TimelineView {
  const { id, type, version, date: said, means, created, summary, summaryCodes, author } = entry;
  const codeName = (code: SystemCode) => findDisplay(code, displays);
  const [bare] = bareTitle(title);
  return {
    kind: timelineKind(type),
    id,
    date: said ?? toInstant(created),
    date_means: means ?? 'entered',
    title: bare === undefined ? title.title : (codeName(bare) ?? labelCode(bare)),
    summary: summary === null ? null : withNames({ text: summary, codes: summaryCodes }, codeName),
    author_type: author,
    fhir: `${type}/${id}`,
    version,
  };
}
