/** Shows the allergies, medicines, problems and vaccinations in a record, from the clinical reading. */
import type { ClinicalEntry } from '#queries/rest/clinical-entries.ts';
import type { LeftOut, ListName } from '#src/clinical/reading/reading.ts';
import { type Html, html } from '#src/shared/html.ts';
import type { Known } from '../../reading/known.ts';
import type { KnownLine } from '../../reading/known-lines.ts';
import { LISTS, leftOutName, pastText, splitLines, withdrawnLines } from '../../reading/known-lists.ts';
import { aiPart, originAfter, rowsOr, withdrawnPart } from '../entries.ts';
import type { PatientPage } from '../page.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';
import { type RowPlace, renderKnownRow } from './known-rows.ts';
import { readKnown } from './read-known.ts';

/** Maximum number of past entries in a list; the timeline contains all of them. */
const MOST_PAST = 100;

/**
 * Returns the page.
 * @throws Refusal
 */
export async function healthPage(visit: Visit, record: OpenRecord): Promise<PatientPage> {
  const { say } = visit;
  const known = await readKnown(visit, record);
  return {
    title: say('nav.health'),
    record,
    section: 'health',
    body: listsPart({ visit, record, known, say }, known, (past, counted) => pastPart(visit, past, counted)),
  };
}

/**
 * Returns the text about a list's past rows.
 * @param past how many there are, such as `8 past medicines`
 */
type PastText = (rows: readonly Html[], past: string, list: ListName) => Html;

/** Returns the lists. */
export function listsPart(place: RowPlace, known: Known, over: PastText): Html {
  const { visit, record } = place;
  const { say } = visit;
  const parts = LISTS.map(([list, title, none]) => {
    const row = (line: KnownLine): Html => renderKnownRow(place, line);
    const lines = splitLines(place, known.facts, list);
    const [absent, now] = [lines.absent.map(row), lines.now.map(row)];
    const [planned, past] = [lines.planned.map(row), lines.past.map(row)];
    const others = planned.length + past.length;
    const noted = splitLines(place, known.notes, list);
    const counted = past.length === 0 ? '' : pastText(say, list, past.length);
    return html`<section class="stack" aria-labelledby="${list}">
<h2 id="${list}">${say(title)}</h2>
${
  now.length > 0
    ? rowsOr(now, '')
    : others > 0
      ? html`<p class="quiet">${say('known.nonenow')}</p>`
      : absent.length > 0
        ? html``
        : rowsOr(now, say(none))
}${absent.length === 0 ? html`` : rowsOr(absent, '')}${planned.length === 0 ? html`` : rowsOr(planned, '')}${over(past, counted, list)}${leftOutPart(visit, record, known, list)}${aiPart(visit, `${list}-ai`, [...noted.absent, ...noted.now, ...noted.planned, ...noted.past].map(row), changedIn(known, list))}</section>
`;
  });
  return html`${tooLargePart(visit, record, known)}${parts}`;
}

/** Returns the past entries, collapsed. */
function pastPart({ say }: Visit, past: readonly Html[], counted: string): Html {
  if (past.length === 0) return html``;
  const more =
    past.length > MOST_PAST
      ? html`<p class="quiet">${say('known.morepast', { more: past.length - MOST_PAST })}</p>
`
      : html``;
  return html`<details class="past"><summary>${counted}</summary>
<ul class="rows">
${past.slice(0, MOST_PAST)}</ul>
${more}</details>
`;
}

/** Returns how many of an AI's notes changed an entry that another author wrote. */
function changedIn({ notes }: Known, list: ListName): number {
  const told: readonly ClinicalEntry[] = notes.absences[list]
    .flatMap(({ sources }) => sources)
    .concat(
      list === 'allergies'
        ? notes.allergies.map((each) => each.told)
        : list === 'vaccinations'
          ? notes.vaccinations.flatMap(({ doses }) => doses.map((each) => each.told))
          : [...notes[list]].flatMap(({ sources }) => sources.map((each) => each.told)),
    );
  return told.filter(({ partOfAi }) => partOfAi === 'changed').length;
}

/**
 * Returns the entries in a list that aren't shown, and why: entries that an AI withdrew, listed by name, and entries that
 * can't be interpreted.
 */
function leftOutPart(visit: Visit, record: OpenRecord, known: Known, list: ListName): Html {
  const own = known.leftOut.filter((each) => each.list === list);
  const rows = (as: LeftOut<ClinicalEntry>['as']) =>
    own
      .filter((each) => each.as === as)
      .map((each) => ({ type: each.told.type, id: each.told.id, name: leftOutName(visit.say, known, each) }));
  const modified = rows('modified');
  return html`${refutedPart(visit, record, known, list)}${withdrawnPart(visit, record, rows('withdrawn by an AI'))}${
    modified.length === 0
      ? html``
      : html`<p class="note warn">${visit.say('known.modified', { entries: modified.length })}${modified.map(({ type, id }, n) => originAfter(visit, record, `${type}/${id}`, String(n + 1)))}</p>
`
  }`;
}

/** Returns the allergies that somebody has refuted. They are listed because readers may still believe in them. */
function refutedPart(visit: Visit, record: OpenRecord, known: Known, list: ListName): Html {
  if (list !== 'allergies') return html``;
  const refuted = withdrawnLines({ say: visit.say, known }, known, list).filter(({ as }) => as === 'refuted');
  if (refuted.length === 0) return html``;
  return html`<ul class="bullets refuted quiet small">
${refuted.map(
  ({
    entry: { type, id },
    text,
    title,
  }) => html`<li><bdi>${text}</bdi>${originAfter(visit, record, `${type}/${id}`, title)}</li>
`,
)}</ul>
`;
}

/** Returns the entries that are too large to show here. */
function tooLargePart(visit: Visit, record: OpenRecord, { tooLarge }: Known): Html {
  if (tooLarge.length === 0) return html``;
  return html`<p class="note warn">${visit.say('known.toolarge', { entries: tooLarge.length })}${tooLarge.map((fhir, n) => originAfter(visit, record, fhir, String(n + 1)))}</p>
`;
}
