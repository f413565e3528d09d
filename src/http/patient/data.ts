/**
 * Lets people download a record, and remove a record that they started themselves. Removing it requires typing the name as
 * confirmation.
 */
import { type Html, html } from '#src/shared/html.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { attachmentAs, fileName } from '../answer/disposition.ts';
import { whileAllowed } from '../answer/while-allowed.ts';
import type { Outcome, PatientPage } from './page.ts';
import type { OpenRecord } from './records.ts';
import { HOME, type Visit } from './visit.ts';

/** The downloads: the name used in the path, and the texts for the title and the note. */
const DOWNLOADS = [
  ['summary', 'data.summary', 'data.summarynote'],
  ['everything', 'data.everything', 'data.everythingnote'],
  ['export', 'data.export', 'data.exportnote'],
] as const;

/** The names of the files. */
const FILES = { summary: 'file.summary', everything: 'file.everything', export: 'file.export' } as const;

/** Returns the page. */
export function dataPage(visit: Visit, record: OpenRecord): PatientPage {
  const { say } = visit;
  const rows = DOWNLOADS.map(
    ([name, title, note]) => html`<li><p class="row-top"><span><strong>${say(title)}</strong><br>
<span class="quiet small">${say(note)}</span></span>
<a class="button second small" href="${visit.to(`${record.path}/data/${name}`)}">${say('document.save')}<span class="visually-hidden">: ${say(title)}</span></a></p></li>
`,
  );
  return {
    title: say('nav.data'),
    record,
    section: 'data',
    body: html`<section class="stack" aria-labelledby="download">
<h2 id="download">${say('data.download')}</h2>
<p>${say('data.careful')}</p>
<p><a href="${visit.to(`${record.path}/print`)}">${say('print.title')}</a>: ${say('print.note')}</p>
<ul class="rows">
${rows}</ul>
</section>
${
  record.via === 'own'
    ? html`<section class="stack" aria-labelledby="erase">
<h2 id="erase">${say('data.erase')}</h2>
<p>${say('data.erasenote')}</p>
<p class="buttons"><a class="button danger" href="${visit.to(`${record.path}/data/erase`)}">${say('data.erasebutton')}</a></p>
</section>`
    : html`<section class="stack" aria-labelledby="erase">
<h2 id="erase">${say('data.erase')}</h2>
<p>${say.html('data.keeper', { project: html`<bdi>${record.keeper ?? say('data.sandbox')}</bdi>` })}</p>
</section>`
}`,
  };
}

/**
 * Returns a download.
 * @throws Refusal not_found (404) for an unknown kind, or for a record without a Patient
 */
export async function recordDownload(visit: Visit, record: OpenRecord, kind: string): Promise<Outcome> {
  if (kind === 'export') {
    await visit.api.noteRead(record, { action: 'export', resourceType: null }, null);
    const headers = {
      'Content-Type': 'application/x-ndjson; charset=utf-8',
      'Content-Disposition': attachmentAs(fileNameFor(visit, record, kind, 'ndjson')),
    };
    const stream = whileAllowed(visit.deps.pages.exportRecord(record.record), () =>
      requireStillOpen(visit, record),
    );
    return { download: { status: 200, headers, stream } };
  }
  if (kind !== 'summary' && kind !== 'everything') throw notFound('download', kind.slice(0, 64));
  const caller = await visit.api.callerFor(record);
  const answer = await visit.deps.operation(kind, caller, record.record, visit.ctx.res);
  await visit.api.noteRead(record, { action: `$${kind}`, resourceType: 'Patient' }, null);
  const headers = {
    ...answer.headers,
    'Content-Disposition': attachmentAs(fileNameFor(visit, record, kind, 'json')),
  };
  const { stream } = answer;
  const sent =
    stream === undefined ? {} : { stream: whileAllowed(stream, () => requireStillOpen(visit, record)) };
  return { download: { ...answer, headers, ...sent } };
}

/**
 * Checks that the person may still read a record, because the session, or their access to the record, may have ended.
 * @throws Refusal not_found (404)
 */
async function requireStillOpen({ deps, ctx, session }: Visit, { record }: OpenRecord): Promise<void> {
  const link = await deps.services.consentQueries.linkTo(session.person, record);
  if (link === undefined || !(await deps.visitors.isSignedIn(ctx))) throw notFound('Patient', record);
}

/** Returns a file name made of the content's name, the person's name, and the day. */
function fileNameFor(
  { say, now }: Visit,
  { name }: OpenRecord,
  kind: keyof typeof FILES,
  ending: 'json' | 'ndjson',
): string {
  const day = new Date(now).toISOString().slice(0, 10);
  const words = fileName(`${say(FILES[kind])} ${name}`, '').replace(/\s+/g, '-');
  return `${words}-${day}.${ending}`;
}

/** Returns the page on which a person must type the name before a personal record is removed. */
export function erasePage(visit: Visit, record: OpenRecord, isWrong = false): Outcome {
  const { say } = visit;
  if (record.via !== 'own') return { goTo: visit.below(`${record.path}/data`) };
  const fault = isWrong
    ? html`<p role="alert" id="fault">${say('data.typefault')}</p>
`
    : html``;
  const invalid: Html = isWrong ? html` aria-invalid="true" aria-describedby="fault"` : html``;
  return {
    title: say('data.asktitle'),
    status: isWrong ? 422 : 200,
    record,
    section: 'data',
    body: html`<p class="note warn">${say('data.final')}</p>
<ul class="bullets">
<li>${say('data.gone')}</li>
<li>${say('data.ends')}</li>
<li>${say('data.fewer')}</li>
</ul>
${fault}${visit.form(`${record.path}/data/erase`)}<div class="field short"><label for="confirm">${say.html('data.type', { name: html`<bdi>${record.name}</bdi>` })}</label>
<input id="confirm" name="confirm" required autocomplete="off" spellcheck="false"${invalid}></div>
<div class="actions">
<button class="button danger">${say('data.erasebutton')}</button>
<a class="button second" href="${visit.to(`${record.path}/data`)}">${say('form.cancel')}</a>
</div>
</form>`,
  };
}

/**
 * Removes a personal record, like `DELETE /me/patients/{patient_id}`, if its name was typed correctly.
 * @throws Refusal
 */
export async function erase(visit: Visit, record: OpenRecord, form: URLSearchParams): Promise<Outcome> {
  if (record.via !== 'own')
    throw new Refusal('forbidden', {
      code: 'forbidden',
      diagnostics: 'only a personal record can be removed here',
    });
  const typed = plain((form.get('confirm') ?? '').slice(0, 500));
  if (typed !== plain(record.name)) return erasePage(visit, record, true);
  await visit.api.me('DELETE', '/me/patients/{patient_id}', { patient_id: record.record });
  return { goTo: visit.below(HOME, { done: 'erased' }) };
}

/** Returns a name in the form used for comparison, in which letter case and extra spaces don't matter. */
function plain(name: string): string {
  return name.normalize('NFC').trim().replace(/\s+/gu, ' ').toLowerCase();
}
