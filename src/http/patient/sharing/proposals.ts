/**
 * Shows changes that applications propose for a record: what would change, who proposes it and why. People can accept or
 * reject them.
 */
import type { ProposalRow } from '#queries/consents/proposals.ts';
import { bareCodes, withDisplays } from '#src/clinical/summary/displays.ts';
import { withoutVersion } from '#src/fhir/without-version.ts';
import { type Html, html } from '#src/shared/html.ts';
import { type Json, type JsonObject, printJson } from '#src/shared/json/json.ts';
import { notFound } from '#src/shared/refusal.ts';
import { proposalView, proposedChanges, proposedVersion } from '../../api/proposal-view.ts';
import type { Texts } from '../../pages/texts.ts';
import { authorText, typeText } from '../../reading/kinds.ts';
import { titleOfResource } from '../../reading/resource-title.ts';
import { changeRow, valueWords } from '../entry/element-values.ts';
import { wordsOfNarrative, wordsOfValue } from '../entry/resource-words.ts';
import type { Api } from '../own-api.ts';
import type { Outcome, PatientPage } from '../page.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';

/** Maximum number of proposals on a page. */
const MOST = 100;

/** A proposal whose values are JSON. */
type Proposal = Omit<Api.Proposal, 'resource' | 'difference'> & {
  readonly resource: Record<string, Json>;
  readonly difference:
    | readonly { readonly path: string; readonly before?: Json; readonly after?: Json }[]
    | null;
};

/** Returns the note about values from an AI. The entry may have been changed since, for example by a take-back. */
function aiNote({ status, version, newest }: Pick<ProposalRow, 'status' | 'version' | 'newest'>) {
  if (status === 'pending') return 'proposals.ainote';
  if (status !== 'accepted') return 'proposals.aiover';
  return version === newest ? 'proposals.aidone' : 'proposals.aichanged';
}

/** Values that mean nothing to a person: which record, which type. All other values could change what an entry means. */
const TECHNICAL = /^(?:resourceType|id|(?:subject|patient)\.reference)$/;

const proposalPath = ({ path }: OpenRecord, id = ''): string =>
  id === '' ? `${path}/proposals` : `${path}/proposals/${encodeURIComponent(id)}`;

/**
 * Returns the page with all proposals.
 * @throws Refusal
 */
export async function proposalsPage(visit: Visit, record: OpenRecord): Promise<PatientPage> {
  const { say } = visit;
  const waiting = await visit.api.me('GET', '/me/patients/{patient_id}/proposals', {
    patient_id: record.record,
    limit: MOST,
    status: 'pending',
    cursor: visit.asked('waiting'),
  });
  const all = await visit.api.me('GET', '/me/patients/{patient_id}/proposals', {
    patient_id: record.record,
    limit: MOST,
    cursor: visit.asked('cursor'),
  });
  const [open, known] = [
    await withNames(visit, waiting.data as Proposal[]),
    await withNames(visit, all.data as Proposal[]),
  ];
  const over = known.filter(({ status }) => status !== 'pending');
  const older = (name: string, cursor: string | null): Html =>
    cursor === null
      ? html``
      : html`<p class="pager"><a class="button second small" href="${visit.to(proposalPath(record), { [name]: cursor })}">${say('list.older')}</a></p>`;
  return {
    title: say('nav.proposals'),
    lead: html`${say('proposals.lead')}`,
    record,
    section: 'proposals',
    body: html`<section class="stack" aria-labelledby="waiting">
<h2 id="waiting">${say('proposals.waiting')}</h2>
${
  open.length === 0
    ? html`<div class="empty"><p>${say('proposals.none')}</p></div>`
    : html`<ul class="cards">
${open.map((each) => renderCard(visit, record, each))}</ul>
${older('waiting', waiting.next_cursor)}`
}
</section>
${
  over.length === 0
    ? html``
    : html`<section class="stack" aria-labelledby="over">
<h2 id="over">${say('proposals.over')}</h2>
<ul class="rows">
${over.map((each) => overRow(visit, record, each))}</ul>
</section>`
}${older('cursor', all.next_cursor)}`,
  };
}

/** Returns the proposals, adding names to codes that have none, because patients don't know codes. */
async function withNames(visit: Visit, all: readonly Proposal[]): Promise<readonly Proposal[]> {
  const names = await visit.deps.services.displays(bareCodes(all.map(({ resource }) => resource)));
  return all.map((each) => ({ ...each, resource: withDisplays({ value: each.resource }, names).value }));
}

/**
 * Returns the version that a proposal would change, with names added. For a proposal to create a resource, it has no elements.
 */
async function readBase(visit: Visit, base: JsonObject | undefined): Promise<Elements> {
  if (base === undefined) return {};
  const value = withoutVersion(base);
  return withDisplays({ value }, await visit.deps.services.displays(bareCodes([value]))).value;
}

/** Returns a proposal's effect in words. */
function renderTitle({ say }: Visit, { operation, resource, resource_type }: Proposal): Html {
  const thing = html`<bdi>${titleOfResource(resource) ?? typeText(say, resource_type)}</bdi>`;
  return say.html(operation === 'create' ? 'proposals.create' : 'proposals.update', { thing });
}

/** Returns the kind of entry that a proposal is about and, for a medicine, the dose. */
function kindPart({ say }: Visit, { resource, resource_type }: Proposal): Html {
  const dose = resource.dosage ?? resource.dosageInstruction;
  const words =
    dose === undefined ? html`` : html` · ${wordsOfValue(dose, 'dosage', valueWords(say, resource_type))}`;
  return html`<strong>${typeText(say, resource_type)}</strong>${words}`;
}

function byText({ say }: Visit, { application }: Proposal): Html {
  return say.html('proposals.from', { app: html`<bdi>${application.name}</bdi>` });
}

function aiBadge({ say }: Visit, { author_type }: Proposal): Html {
  return author_type === 'ai' ? html` <span class="badge ai">${say('ai.title')}</span>` : html``;
}

function renderCard(visit: Visit, record: OpenRecord, each: Proposal): Html {
  const { say } = visit;
  const until = say('proposals.until', { day: say.day(Date.parse(each.expires_at)) });
  return html`<li class="card opens${each.author_type === 'ai' ? ' ai' : ''}">
<h3><a href="${visit.to(proposalPath(record, each.id))}">${renderTitle(visit, each)}</a>${aiBadge(visit, each)}</h3>
<p>${kindPart(visit, each)}</p>
<p class="quiet small">${byText(visit, each)} · ${until}</p>
</li>
`;
}

function overRow(visit: Visit, record: OpenRecord, each: Proposal): Html {
  const { say } = visit;
  const state = say(`proposals.${each.status}`);
  const day = each.decided_at === null ? '' : `, ${say.day(Date.parse(each.decided_at))}`;
  return html`<li><p><a href="${visit.to(proposalPath(record, each.id))}">${renderTitle(visit, each)}</a>${aiBadge(visit, each)}</p>
<p class="quiet small">${kindPart(visit, each)} · ${byText(visit, each)} · ${state}${day}</p></li>
`;
}

/**
 * Returns the page about a proposal, with its changes.
 * @throws Refusal not_found (404)
 */
export async function proposalPage(visit: Visit, record: OpenRecord, id: string): Promise<PatientPage> {
  const { say, deps } = visit;
  await deps.services.freshness.catchUp(['consents', 'resources', 'history']);
  const row = await deps.services.consentQueries.proposal(record.record, id);
  if (row === undefined) throw notFound('proposal', id.slice(0, 64));
  await visit.api.noteRead(record, { action: 'read', resourceType: row.resource_type }, 1);
  const seen = await proposedVersion(deps.services, row);
  // Parsed without its values, whose digits would be lost.
  const shown: Proposal = {
    ...JSON.parse(printJson(proposalView(row, seen))),
    resource: seen.resource,
    difference: proposedChanges(row, seen),
  };
  const [each] = await withNames(visit, [shown]);
  if (each === undefined) throw notFound('proposal', id.slice(0, 64));
  const base = await readBase(visit, seen.base);
  const isPending = each.status === 'pending';
  const state = isPending
    ? say('proposals.until', { day: say.day(Date.parse(each.expires_at)) })
    : say(`proposals.${each.status}`);
  return {
    title: `${say('nav.proposals')}: ${titleOfResource(each.resource) ?? typeText(say, each.resource_type)}`,
    heading: renderTitle(visit, each),
    lead: html`${byText(visit, each)} · ${say.html('consent.by', { organization: html`<bdi>${each.application.organization}</bdi>` })}`,
    record,
    section: 'proposals',
    back: { path: proposalPath(record), text: say('nav.proposals') },
    body: html`<p>${kindPart(visit, each)}</p>
<p>${state}</p>
${
  each.author_type === 'ai'
    ? html`<p class="note warn"><strong>${say('ai.title')}.</strong> ${say(aiNote(row))}</p>
`
    : html``
}${
  each.rationale === null
    ? html``
    : html`<p>${say.html('proposals.why', { text: html`<bdi>${each.rationale}</bdi>` })}</p>
`
}${differencePart(visit, each, base)}
${isPending ? decidePart(visit, record, each) : html``}`,
  };
}

/** A resource's elements, by name. */
type Elements = Readonly<Record<string, Json>>;

/** Returns the changes: first element by element in plain words, then with all details. */
function differencePart(
  visit: Visit,
  { difference, operation, resource, resource_type }: Proposal,
  base: Elements,
): Html {
  const { say } = visit;
  const shown = (difference ?? []).filter(({ path }) => !TECHNICAL.test(path));
  const isUpdate = operation === 'update';
  const names = [...new Set(shown.map(({ path }) => path.replace(/[.[].*$/, '')))];
  const words = valueWords(say, resource_type);
  const rows = names.map((name) =>
    changeRow(
      say,
      resource_type,
      name,
      { before: base[name], after: resource[name] },
      { words, hasBefore: isUpdate, same: say('proposals.indetails') },
    ),
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${say('proposals.differences')}">
<table class="differences">
<caption>${say('proposals.differences')}</caption>
<thead><tr><th scope="col">${say('proposals.element')}</th>${isUpdate ? html`<th scope="col">${say('proposals.before')}</th>` : html``}<th scope="col">${say('proposals.after')}</th></tr></thead>
<tbody>
${rows}</tbody>
</table>
</div>
${detailsPart(say, shown, isUpdate)}`;
}

/** Returns every changed part as stored, with its path, because a description in words could hide something. */
function detailsPart(say: Texts, shown: NonNullable<Proposal['difference']>, isUpdate: boolean): Html {
  const cell = (path: string, value: Json | undefined): Html => {
    if (value === undefined) return html`–`;
    const text = typeof value === 'string' && path === 'text.div' ? wordsOfNarrative(value) : value;
    return html`<bdi>${typeof text === 'string' ? text : printJson(text)}</bdi>`;
  };
  const rows = shown.map(
    ({ path, before, after }) => html`<tr><th scope="row"><span lang="en" dir="ltr">${path}</span></th>
${isUpdate ? html`<td>${cell(path, before)}</td>` : html``}<td>${cell(path, after)}</td></tr>
`,
  );
  return html`<details class="filters"><summary>${say('proposals.details')}</summary>
<div class="scroll" tabindex="0" role="region" aria-label="${say('proposals.details')}">
<table class="differences small">
<thead><tr><th scope="col">${say('proposals.element')}</th>${isUpdate ? html`<th scope="col">${say('proposals.before')}</th>` : html``}<th scope="col">${say('proposals.after')}</th></tr></thead>
<tbody>
${rows}</tbody>
</table>
</div>
</details>`;
}

/**
 * Returns the decision form. It explains what is recorded if the person accepts: the proposer is the author, and the person
 * approved the change.
 */
function decidePart(visit: Visit, record: OpenRecord, { id, author_type, application }: Proposal): Html {
  const { say } = visit;
  return html`<section class="stack" aria-labelledby="decision">
<h2 id="decision">${say('consent.decide')}</h2>
<p>${say('proposals.recorded')}</p>
<dl class="facts">
<div><dt>${say('entry.author')}</dt><dd>${authorText(say, author_type)}</dd></div>
<div><dt>${say('entry.writer')}</dt><dd>${say('writer.application')}: <bdi>${application.name}</bdi></dd></div>
<div><dt>${say('entry.approved')}</dt><dd>${say('proposals.you')}</dd></div>
</dl>
<p>${say('proposals.note')}</p>
${visit.form(proposalPath(record, id))}<div class="actions">
<button class="button second" name="decision" value="accept">${say('proposals.accept')}</button>
<button class="button second" name="decision" value="reject">${say('proposals.reject')}</button>
</div>
</form>
</section>`;
}

/**
 * Carries out the person's decision, as `POST …/accept` and `…/reject` under `/me` do.
 * @throws Refusal conflict (409)
 */
export async function decideProposal(
  visit: Visit,
  record: OpenRecord,
  form: URLSearchParams,
  id: string,
): Promise<Outcome> {
  const proposal = { patient_id: record.record, proposal_id: id, body: {} };
  const accepts = form.get('decision') === 'accept';
  await (accepts
    ? visit.api.me('POST', '/me/patients/{patient_id}/proposals/{proposal_id}/accept', proposal)
    : visit.api.me('POST', '/me/patients/{patient_id}/proposals/{proposal_id}/reject', proposal));
  return { goTo: visit.below(proposalPath(record), { done: accepts ? 'accepted' : 'rejected' }) };
}
