/** Problems, medicines, allergies and vaccinations of a record, from the same lists as REST v1. */
import { z } from 'zod';
import type { Caution } from '#queries/rest/cautions.ts';
import { type Html, html } from '#src/shared/html.ts';
import { listOf } from '../api/schemas.ts';
import type { TextKey } from '../pages/languages/language.ts';
import { aiPart, apart, originLink, rowsOr, withdrawnPart } from './entries.ts';
import type { PatientPage } from './page.ts';
import { dateText, type OpenRecord } from './records.ts';
import type { Visit } from './visit.ts';

/** Most entries of a list; longer ones say that the timeline has the rest. */
const MOST = 200;

const common = { fhir: z.string(), author_type: z.string() };
const coded = { code: z.string().nullable(), display: z.string().nullable(), note: z.string().nullable() };

const condition = z.object({
  ...common,
  ...coded,
  clinical_status: z.string().nullable(),
  onset: z.string().nullable(),
  abatement: z.string().nullable(),
});
const medication = z.object({
  ...common,
  ...coded,
  status: z.string().nullable(),
  dosage: z.string().nullable(),
  start: z.string().nullable(),
  end: z.string().nullable(),
});
/** An entry of the timeline. */
export const timelineEntry = z.object({
  ...common,
  kind: z.string(),
  date: z.string(),
  title: z.string(),
  summary: z.string().nullable(),
});

type Condition = z.output<typeof condition>;
type Medication = z.output<typeof medication>;
type TimelineEntry = z.output<typeof timelineEntry>;

const STATUS = {
  active: 'state.active',
  recurrence: 'state.recurrence',
  relapse: 'state.relapse',
  inactive: 'state.inactive',
  remission: 'state.remission',
  resolved: 'state.resolved',
  completed: 'state.completed',
  stopped: 'state.stopped',
  'on-hold': 'state.onhold',
  intended: 'state.intended',
  'not-taken': 'state.nottaken',
  'not-done': 'state.notdone',
  unknown: 'state.unknown',
} as const satisfies Readonly<Record<string, TextKey>>;

/** States of what is going on now, or may be: what has no state is shown with the others, and says that it has none. */
const CURRENT: readonly (string | null)[] = [
  'active',
  'recurrence',
  'relapse',
  'intended',
  'on-hold',
  'unknown',
  null,
];

/** What the health page and the overview show. */
export interface Health {
  readonly conditions: readonly Condition[];
  readonly medications: readonly Medication[];
  readonly prescriptions: readonly Medication[];
  readonly allergies: readonly TimelineEntry[];
  readonly immunizations: readonly TimelineEntry[];
  /** Whether a list has more than is shown. */
  readonly more: boolean;
}

/** Reads the lists. @throws Refusal */
export async function healthOf(visit: Visit, record: OpenRecord): Promise<Health> {
  const params = { patient_id: record.record };
  const query = { limit: MOST };
  const read = { action: 'search-type' };
  const conditions = await visit.api.read(
    record,
    { ...read, resourceType: 'Condition' },
    'listConditions',
    { params, query },
    listOf(condition),
  );
  const medications = await visit.api.read(
    record,
    { ...read, resourceType: 'MedicationStatement' },
    'listMedications',
    { params, query },
    listOf(medication),
  );
  const prescriptions = await visit.deps.pages.prescriptionsOf(record.record, MOST + 1);
  if (prescriptions.length > 0)
    await visit.api.noteRead(record, { ...read, resourceType: 'MedicationRequest' }, prescriptions.length);
  const kinds = (kind: string, resourceType: string) =>
    visit.api.read(
      record,
      { ...read, resourceType },
      'getTimeline',
      { params, query: { ...query, kinds: kind } },
      listOf(timelineEntry),
    );
  const allergies = await kinds('allergy', 'AllergyIntolerance');
  const immunizations = await kinds('immunization', 'Immunization');
  return {
    conditions: conditions.data,
    medications: medications.data,
    prescriptions: prescriptions.slice(0, MOST),
    allergies: allergies.data,
    immunizations: immunizations.data,
    more:
      prescriptions.length > MOST ||
      [conditions, medications, allergies, immunizations].some(({ next_cursor }) => next_cursor !== null),
  };
}

/** Tells whether a condition or medication is going on now, or may be. */
export function isCurrent(item: Condition | Medication): boolean {
  return CURRENT.includes('clinical_status' in item ? item.clinical_status : item.status);
}

/** The types of the page's lists, by their ids. */
const TYPES = {
  problems: 'Condition',
  medications: 'MedicationStatement',
  prescriptions: 'MedicationRequest',
  allergies: 'AllergyIntolerance',
  immunizations: 'Immunization',
} as const;

/** Returns the page. @throws Refusal */
export async function healthPage(visit: Visit, record: OpenRecord): Promise<PatientPage> {
  const { say } = visit;
  const { conditions, medications, prescriptions, allergies, immunizations, more } = await healthOf(
    visit,
    record,
  );
  const idOf = ({ fhir }: { readonly fhir: string }): string => fhir.split('/', 2)[1] ?? '';
  const cautions = await visit.deps.pages.cautions([...conditions, ...allergies].map(idOf));
  const cautionOf = (item: Condition | TimelineEntry): Html => cautionText(visit, cautions.get(idOf(item)));
  const withdrawn = await visit.deps.pages.withdrawnByAi(record.record, Object.values(TYPES));
  const part = async <T extends { readonly author_type: string; readonly fhir: string }>(
    id: keyof typeof TYPES,
    title: string,
    none: string,
    items: readonly T[],
    row: (item: T) => Html,
  ): Promise<Html> => {
    const { facts, notes } = apart(items);
    return html`<section class="stack" aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${rowsOr(facts.map(row), none)}${withdrawnPart(
  visit,
  record,
  withdrawn.filter(({ type }) => type === TYPES[id]),
)}${await aiPart(visit, `${id}-ai`, notes, row)}</section>
`;
  };
  const sorted = <T extends Condition | Medication>(items: readonly T[]): readonly T[] => [
    ...items.filter(isCurrent),
    ...items.filter((item) => !isCurrent(item)),
  ];
  return {
    title: say('nav.health'),
    record,
    section: 'health',
    body: html`${await part('problems', say('health.problems'), say('health.noproblems'), sorted(conditions), (item) => conditionRow(visit, record, item, cautionOf(item)))}
${await part('medications', say('health.medications'), say('health.nomedications'), sorted(medications), (item) => medicationRow(visit, record, item))}
${prescriptions.length === 0 ? html`` : await part('prescriptions', say('health.prescriptions'), say('health.nomedications'), sorted(prescriptions), (item) => medicationRow(visit, record, item))}
${await part('allergies', say('health.allergies'), say('health.noallergies'), allergies, (item) => entryRow(visit, record, item, cautionOf(item)))}
${await part('immunizations', say('health.immunizations'), say('health.noimmunizations'), immunizations, (item) => entryRow(visit, record, item))}
${more ? html`<p class="quiet">${say('health.more', { most: MOST })}</p>` : html``}`,
  };
}

/** Returns the name of a coded entry. */
function titleOf({ display, code }: Condition | Medication, say: Visit['say']): string {
  return display ?? code ?? say('entry.unnamed');
}

/** Returns the text of a state; undefined for one that isn't known here. */
export function stateKey(status: string | null): (typeof STATUS)[keyof typeof STATUS] | undefined {
  return Object.entries(STATUS).find(([name]) => name === (status ?? 'unknown'))?.[1];
}

function stateOf({ say }: Visit, status: string | null): Html {
  const key = stateKey(status);
  if (key === undefined) return html``;
  const isKnown = key !== 'state.unknown' && CURRENT.includes(status);
  return html`<span class="badge ${isKnown ? 'good' : 'plain'}">${say(key)}</span>`;
}

/** Returns what makes an entry uncertain or dangerous, in words; nothing if it is neither. */
function cautionText({ say }: Visit, caution: Caution | undefined): Html {
  const { certainty, isCritical } = caution ?? {};
  return html`${isCritical === true ? html` <span class="badge warn">${say('certainty.critical')}</span>` : ''}${
    certainty === undefined ? '' : html` <span class="badge plain">${say(`certainty.${certainty}`)}</span>`
  }`;
}

/** Returns the state of an entry in words where it isn't plainly current; undefined otherwise. */
export function remarkOf({ say }: Visit, item: Condition | Medication | TimelineEntry): string | undefined {
  const status =
    'summary' in item
      ? (splitState(item).status ?? 'active')
      : 'clinical_status' in item
        ? item.clinical_status
        : item.status;
  const key = status === 'active' ? undefined : stateKey(status);
  return key === undefined ? undefined : say(key);
}

/** Splits the summary of an allergy or vaccination: it begins with the state if that isn't a usual one. */
function splitState({ kind, summary }: TimelineEntry): {
  readonly status: string | undefined;
  readonly rest: string | null;
} {
  if (summary === null || (kind !== 'allergy' && kind !== 'immunization'))
    return { status: undefined, rest: summary };
  const [first = '', ...others] = summary.split(', ');
  if (!Object.hasOwn(STATUS, first)) return { status: undefined, rest: summary };
  return { status: first, rest: others.length === 0 ? null : others.join(', ') };
}

function rowFrame(title: string, badge: Html, details: readonly string[], link: Html): Html {
  return html`<li><p class="row-top"><strong><bdi>${title}</bdi></strong> ${badge}</p>
<p class="quiet small">${details.map((detail, i) => html`${i === 0 ? '' : ' · '}<bdi>${detail}</bdi>`)}${details.length === 0 ? '' : ' · '}${link}</p></li>
`;
}

function conditionRow(visit: Visit, record: OpenRecord, item: Condition, caution: Html): Html {
  const { say } = visit;
  const title = titleOf(item, say);
  const details = [
    ...(item.onset === null ? [] : [say('health.since', { day: dateText(say, item.onset) })]),
    ...(item.abatement === null ? [] : [say('days.until', { day: dateText(say, item.abatement) })]),
    ...(item.note === null ? [] : [item.note]),
  ];
  return rowFrame(
    title,
    html`${stateOf(visit, item.clinical_status)}${caution}`,
    details,
    originLink(visit, record, item.fhir, title),
  );
}

function medicationRow(visit: Visit, record: OpenRecord, item: Medication): Html {
  const { say } = visit;
  const title = titleOf(item, say);
  const details = [
    ...(item.dosage === null ? [] : [item.dosage]),
    ...(item.start === null
      ? []
      : [
          say(item.fhir.startsWith('MedicationRequest/') ? 'health.prescribed' : 'health.since', {
            day: dateText(say, item.start),
          }),
        ]),
    ...(item.end === null ? [] : [say('days.until', { day: dateText(say, item.end) })]),
    ...(item.note === null ? [] : [item.note]),
  ];
  return rowFrame(title, stateOf(visit, item.status), details, originLink(visit, record, item.fhir, title));
}

/** Returns the row of an entry of the timeline. */
export function entryRow(
  visit: Visit,
  record: OpenRecord,
  entry: TimelineEntry,
  caution: Html = html``,
): Html {
  const { title, date, fhir } = entry;
  const { status, rest } = splitState(entry);
  const details = [...(rest === null ? [] : [rest]), dateText(visit.say, date)];
  const state = status === undefined ? html`` : stateOf(visit, status);
  return rowFrame(title, html`${state}${caution}`, details, originLink(visit, record, fhir, title));
}
