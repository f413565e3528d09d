/** Shows a record's first page: changes since the last visit, applications that have read it, and its current state. */
import type { Change } from '#queries/rest/changes.ts';
import { nameConcept } from '#src/clinical/reading/names/name.ts';
import type { SystemCode } from '#src/fhir/terminology.ts';
import { type Html, html } from '#src/shared/html.ts';
import { codeLabel } from '../reading/code-label.ts';
import { authorText, kindsText } from '../reading/kinds.ts';
import { countNotes } from '../reading/known.ts';
import {
  absenceLine,
  allergyName,
  dosesText,
  medicineBadge,
  medicineName,
  problemName,
  uncertainText,
} from '../reading/known-lines.ts';
import { pastText } from '../reading/known-lists.ts';
import { recentDoseText, recentText } from '../reading/revision-words.ts';
import { originLink, renderAiPart, rowsOr } from './entries.ts';
import { readKnown } from './known/read-known.ts';
import type { PatientPage } from './page.ts';
import { type OpenRecord, recordDetails } from './records.ts';
import { abnormalPart } from './results/abnormal.ts';
import { grantCard, readGrantUse } from './sharing/applications.ts';
import type { Visit } from './visit.ts';

/** Maximum number of kinds of changes that are listed. */
const CHANGES = 10;
/** Maximum number of applications that are listed. */
const APPLICATIONS = 3;
/** Maximum number of grants that are read. */
const MOST = 200;

/**
 * Returns the page.
 * @throws Refusal
 */
export async function overviewPage(visit: Visit, record: OpenRecord): Promise<PatientPage> {
  const { say, deps, session } = visit;
  const isDeleted = record.given === null && record.family === null && record.birth_date === null;
  const before = await deps.pages.visited(session.person, record.record, session.id);
  const { rows } = await deps.services.consentQueries.listGrants({ record: record.record, limit: MOST });
  const active = rows.filter(({ status }) => status === 'active');
  const shown = active.slice(0, APPLICATIONS);
  const uses = await readGrantUse(visit, shown);
  const { total: proposals } = await deps.services.consentQueries.listProposals({
    record: record.record,
    status: 'pending',
    limit: 1,
  });
  return {
    title: say('nav.overview'),
    heading: html`<bdi>${record.name}</bdi>`,
    lead: html`${recordDetails(say, record).join(' · ')}`,
    record,
    section: 'overview',
    body: html`${
      record.environment === 'sandbox'
        ? html`<p class="note">${say('consent.sandbox')}</p>
`
        : html``
    }${
      proposals === 0
        ? html``
        : html`<p class="note"><a href="${visit.to(`${record.path}/proposals`)}"><strong>${say('home.proposals', { proposals })}</strong></a></p>
`
    }${isDeleted ? html`` : await glancePart(visit, record)}
${await newPart(visit, record, before)}
<section class="stack" aria-labelledby="applications">
<h2 id="applications">${say('applications.active', { applications: active.length })}</h2>
${
  active.length === 0
    ? html`<p class="quiet">${say('applications.none')}</p>`
    : html`<ul class="cards">
${shown.map((grant) => grantCard(visit, record, grant, uses.get(grant.id)))}</ul>`
}
<p><a href="${visit.to(`${record.path}/applications`)}">${say('overview.applications')}</a> · <a href="${visit.to(`${record.path}/log`)}">${say('overview.log')}</a></p>
</section>`,
  };
}

async function newPart(visit: Visit, record: OpenRecord, before: number | undefined): Promise<Html> {
  const { say, deps } = visit;
  const { record: id } = record;
  if (before === undefined)
    return html`<section class="stack" aria-labelledby="new">
<h2 id="new">${say('new.title')}</h2>
<p class="quiet">${say('new.first')}</p>
</section>
`;
  const { changes, total } = await deps.pages.changesOf(id, before, CHANGES);
  if (total > 0)
    await visit.api.noteRead(record, { action: 'history-instance', resourceType: null }, changes.length);
  const codes = changes.flatMap(({ title, titleSystem: system }): SystemCode[] =>
    title === null || system === null ? [] : [{ system, code: title }],
  );
  const names = await deps.services.displays(codes);
  const row = (change: Change): Html => changeRow(visit, record, change, names);
  const rows = changes.filter(({ author }) => author !== 'ai').map(row);
  const written = changes
    .filter(({ author }) => author === 'ai')
    .map((change) => ({ change, fhir: `${change.type}/${change.id}` }));
  const noted = await renderAiPart(visit, 'new-ai', written, ({ change }) => row(change));
  const listed = changes.reduce((sum, { count }) => sum + count, 0);
  const more =
    total > listed
      ? html`<p class="quiet">${say('new.more', { more: total - listed })}</p>
`
      : html``;
  return html`<section class="stack" aria-labelledby="new">
<h2 id="new">${say('new.title')}</h2>
<p class="quiet">${say('new.since', { moment: say.moment(before / 1_000) })}</p>
${rows.length === 0 && written.length > 0 ? html`` : rowsOr(rows, say('new.none'))}${noted}${more}</section>
`;
}

function changeRow(
  visit: Visit,
  record: OpenRecord,
  { id, count, type, operation, at, title, titleSystem, author }: Change,
  names: ReadonlyMap<string, string>,
): Html {
  const { say } = visit;
  const named =
    titleSystem === null ? title : nameConcept({ coding: [{ system: titleSystem, code: title }] }, names);
  const text = named ?? kindsText(say, [type]);
  const done = { CREATE: 'entry.create', UPDATE: 'entry.update', DELETE: 'entry.delete' } as const;
  const entries =
    count === 1 ? html`` : html` <span class="quiet">${say('log.entries', { entries: count })}</span>`;
  const isResult = type === 'Observation';
  const more =
    count === 1
      ? originLink(visit, record, `${type}/${id}`, text)
      : html`<a class="small" href="${visit.to(`${record.path}/${isResult ? 'results' : 'timeline'}`)}">${say(isResult ? 'nav.results' : 'nav.timeline')}</a>`;
  return html`<li><p class="row-top"><span><strong><bdi>${text}</bdi></strong>${entries}</span> <span class="quiet small">${say(done[operation])}, ${say.day(at / 1_000)}</span></p>
<p class="quiet small">${authorText(say, author)} · ${more}</p></li>
`;
}

type Glanced = 'allergies' | 'medicines' | 'problems';
/** Maximum number of medicines listed by name; also of problems. Allergies are always all listed. */
const NAMED = 8;

async function glancePart(visit: Visit, record: OpenRecord): Promise<Html> {
  const { say } = visit;
  const known = await readKnown(visit, record);
  const place = { say, known };
  const { allergies, medicines, problems } = known.facts;
  const marked = (name: string, marks: readonly Html[]): Html =>
    html`<li><bdi>${name}</bdi>${marks.map((mark) => html` ${mark}`)}</li>
`;
  const warn = (words: string): Html => html`<span class="badge warn">${words}</span>`;
  /** Returns the badges for recent changes. */
  const recent = (words: readonly (string | undefined)[]): readonly Html[] =>
    [...new Set(words)].flatMap((each) => (each === undefined ? [] : [warn(each)]));
  const quiet = (words: string | undefined): readonly Html[] =>
    words === undefined ? [] : [html`<bdi class="quiet">${words}</bdi>`];
  const list = (name: Glanced, items: readonly Html[], all: number, none: string): Html => {
    const past = known.facts[name].length - all;
    const absent = known.facts.absences[name].map((absence) => {
      const { title, badges, details } = absenceLine(place, absence);
      return marked(title, [
        ...badges.map(
          ([kind, words]) => html`<span class="badge ${kind}"><span class="first">${words}</span></span>`,
        ),
        ...quiet(details.join(' · ') || undefined),
      ]);
    });
    const denied =
      absent.length === 0
        ? html``
        : html`<ul class="bullets">
${absent}</ul>`;
    if (items.length === 0) {
      if (past === 0 && absent.length > 0) return denied;
      const words = past === 0 ? none : say('known.nonenowpast', { past: pastText(say, name, past) });
      return html`${denied}<p class="quiet">${words}</p>`;
    }
    const more =
      all > items.length
        ? html`<p class="quiet">${say('overview.more', { more: all - items.length })}</p>`
        : html``;
    const before = past === 0 ? html`` : html`<p class="quiet">${pastText(say, name, past)}</p>`;
    return html`${denied}<ul class="bullets">
${items}</ul>${more}${before}`;
  };
  const active = allergies.filter(({ isOver }) => !isOver);
  // Medicines that must not be given are never left out.
  const forbidden = medicines.filter(({ standing }) => standing === 'forbidden');
  const taken = [
    ...forbidden,
    ...(['current', 'unclear', 'planned'] as const).flatMap((each) =>
      medicines.filter(({ standing }) => standing === each),
    ),
  ];
  const open = problems.filter(({ isOver }) => !isOver);
  const parts = [
    [
      say('health.allergies'),
      list(
        'allergies',
        active.map((allergy) =>
          marked(allergyName(place, allergy), [
            ...(allergy.isCritical ? [warn(codeLabel(say, 'criticality', 'high'))] : []),
            ...recent([recentText(say, allergy.revisions)]),
            ...quiet(uncertainText(place, allergy.uncertainty)),
          ]),
        ),
        active.length,
        say('health.noallergies'),
      ),
    ],
    [
      say('health.medications'),
      list(
        'medicines',
        taken.slice(0, Math.max(NAMED, forbidden.length)).map((medicine) => {
          const [kind, words] = medicineBadge(place, medicine);
          return marked(medicineName(place, medicine), [
            ...quiet(dosesText(place, medicine)),
            ...(kind === 'good'
              ? []
              : [html`<span class="badge ${kind}"><span class="first">${words}</span></span>`]),
            ...recent([recentText(say, medicine.revisions), recentDoseText(say, medicine)]),
          ]);
        }),
        taken.length,
        say('health.nomedications'),
      ),
    ],
    [
      say('health.problems'),
      list(
        'problems',
        open.slice(0, NAMED).map((problem) => {
          const { status, uncertainty } = problem;
          return marked(problemName(place, problem), [
            ...quiet(status === undefined ? `(${say('known.nostate')})` : undefined),
            ...quiet(uncertainText(place, uncertainty)),
            ...recent([recentText(say, problem.revisions)]),
          ]);
        }),
        open.length,
        say('health.noproblems'),
      ),
    ],
    [say('results.abnormal'), await abnormalPart(visit, record)],
  ] as const;
  const noted = countNotes(known.notes);
  const left = known.leftOut.filter(({ as }) => as === 'withdrawn by an AI' || as === 'modified').length;
  return html`<section class="stack" aria-labelledby="glance">
<h2 id="glance">${say('overview.glance')}</h2>
<dl class="facts">
${parts.map(
  ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>
`,
)}${
  noted === 0
    ? html``
    : html`<div><dt>${say('ai.title')}</dt><dd>${say('ai.entries', { entries: noted })}</dd></div>
`
}</dl>
${
  left + known.tooLarge.length === 0
    ? html``
    : html`<p class="note warn"><a href="${visit.to(`${record.path}/health`)}">${say('known.leftout', { entries: left + known.tooLarge.length })}</a></p>
`
}<p><a href="${visit.to(`${record.path}/health`)}">${say('nav.health')}</a> · <a href="${visit.to(`${record.path}/results`)}">${say('nav.results')}</a> · <a href="${visit.to(`${record.path}/documents`)}">${say('nav.documents')}</a> · <a href="${visit.to(`${record.path}/print`)}">${say('print.title')}</a></p>
</section>`;
}
