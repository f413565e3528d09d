/** Shows the form that creates a shared link: what to share, for how long, and with which passcode. */
import { type Html, html } from '#src/shared/html.ts';
import type { Outcome, PatientPage } from '../page.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';

/** The durations that a person can choose from, in days. */
const DAYS = [1, 7, 30, 90, 365] as const;
/** Maximum number of documents that a person can choose from. */
const DOCUMENTS = 50;
const DAY_MS = 86_400_000;

/** The content of the form. */
interface Chosen {
  readonly content: string;
  readonly label: string;
  readonly passcode: string;
  readonly days: number;
  readonly isLive: boolean;
}

const FIRST: Chosen = { content: 'summary', label: '', passcode: '', days: 7, isLive: false };

/** The form's error: the last part of the text's key. */
type Fault = 'whatfault' | 'codefault';

/**
 * Returns the page with the form.
 * @throws Refusal
 */
export async function newLinkPage(
  visit: Visit,
  record: OpenRecord,
  chosen = FIRST,
  faults: readonly Fault[] = [],
): Promise<PatientPage> {
  const { say } = visit;
  const described = (fault: Fault, hint?: string): Html => {
    const ids = [...(faults.includes(fault) ? [fault] : []), ...(hint === undefined ? [] : [hint])];
    const invalid = faults.includes(fault) ? html` aria-invalid="true"` : html``;
    return ids.length === 0 ? invalid : html`${invalid} aria-describedby="${ids.join(' ')}"`;
  };
  const renderFault = (fault: Fault): Html =>
    faults.includes(fault)
      ? html`<p class="fault" id="${fault}">${say(`links.${fault}`)}</p>
`
      : html``;
  const choices = await listContents(visit, record);
  return {
    title: faults.length === 0 ? say('links.new') : `${say('fault.heading')} – ${say('links.new')}`,
    heading: html`${say('links.new')}`,
    status: faults.length === 0 ? 200 : 422,
    record,
    section: 'links',
    back: { path: `${record.path}/links`, text: say('nav.links') },
    body: html`${
      faults.length === 0
        ? html``
        : html`<p role="alert">${say('fault.heading')}</p>
`
    }${visit.form(`${record.path}/links/new`)}<fieldset class="stack"${described('whatfault')}>
<legend>${say('links.what')}</legend>
${renderFault('whatfault')}<div class="choices">
${choices.map(
  ({
    value,
    name,
    note,
    isByAi,
  }) => html`<label class="choice"><input type="radio" name="content" value="${value}"${value === chosen.content ? html` checked` : html``} required><span><bdi>${name}</bdi>${note === undefined ? '' : html` <span class="quiet small">${say(note)}</span>`}${isByAi ? html` <span class="badge ai">${say('ai.unverified')}</span> <span class="quiet small">${say('ai.title')}</span>` : html``}</span></label>
`,
)}</div>
</fieldset>
<fieldset class="stack">
<legend>${say('days.legend')}</legend>
<div class="choices days">
${DAYS.map(
  (
    days,
  ) => html`<label class="choice"><input type="radio" name="days" value="${days}"${days === chosen.days ? html` checked` : html``} required><span><strong>${say('links.days', { days })}</strong> <span class="quiet">${say('days.until', { day: say.day(visit.now + days * DAY_MS) })}</span></span></label>
`,
)}</div>
</fieldset>
<section class="stack">
<div class="field short"><label for="label">${say('links.label')}</label>
<p class="quiet small" id="labelhint">${say('links.labelhint')}</p>
<input id="label" name="label" maxlength="80" autocomplete="off" value="${chosen.label}" aria-describedby="labelhint"></div>
<div class="field short"><label for="passcode">${say('links.code')}</label>
<p class="quiet small" id="codehint">${say('links.codehint')}</p>
${renderFault('codefault')}<input id="passcode" name="passcode" minlength="4" maxlength="64" autocomplete="off" spellcheck="false" autocapitalize="none" value="${chosen.passcode}"${described('codefault', 'codehint')}></div>
<div class="ticks"><label class="tick"><input type="checkbox" name="live" value="yes"${chosen.isLive ? html` checked` : html``}><span>${say('links.update')}</span></label></div>
<p class="note">${say('links.anyone')}</p>
<div class="actions">
<button class="button">${say('links.make')}</button>
<a class="button second" href="${visit.to(`${record.path}/links`)}">${say('form.cancel')}</a>
</div>
</section>
</form>`,
  };
}

/** Content that can be shared. */
interface Content {
  readonly value: string;
  readonly name: string;
  /** The note on whether the content includes contact data. */
  readonly note?: 'links.nocontact' | 'links.withcontact';
  readonly isByAi: boolean;
}

/** Returns the content that can be shared, with its names. */
async function listContents(visit: Visit, record: OpenRecord): Promise<Content[]> {
  const { say } = visit;
  const { data } = await visit.api.read(
    record,
    { action: 'search-type', resourceType: 'DocumentReference' },
    '/v1/patients/{patient_id}/documents',
    { patient_id: record.record, limit: DOCUMENTS },
  );
  const final = data.filter(({ status }) => status === 'final');
  return [
    { value: 'summary', name: say('data.summary'), note: 'links.nocontact', isByAi: false },
    { value: 'everything', name: say('data.everything'), note: 'links.withcontact', isByAi: false },
    ...final.map(({ id, title, author_type }) => ({
      value: `document/${id}`,
      name: title ?? say('document.untitled'),
      isByAi: author_type === 'ai',
    })),
  ];
}

/**
 * Creates the link, as `POST /me/patients/{patient_id}/shl` does, and shows it.
 * @throws Refusal
 */
export async function makeLink(visit: Visit, record: OpenRecord, form: URLSearchParams): Promise<Outcome> {
  const text = (name: string, most: number): string => (form.get(name) ?? '').trim().slice(0, most);
  const chosen: Chosen = {
    content: text('content', 100),
    label: text('label', 80),
    passcode: text('passcode', 100),
    days: DAYS.find((days) => String(days) === form.get('days')) ?? FIRST.days,
    isLive: form.get('live') === 'yes',
  };
  const offered = await listContents(visit, record);
  const isOffered = offered.some(({ value }) => value === chosen.content);
  const length = [...chosen.passcode].length;
  const faults: Fault[] = [
    ...(isOffered ? [] : (['whatfault'] as const)),
    ...(length === 0 || (length >= 4 && chosen.passcode.length <= 64) ? [] : (['codefault'] as const)),
  ];
  if (faults.length > 0) return newLinkPage(visit, record, chosen, faults);
  const { content, label, passcode, days, isLive } = chosen;
  const { id } = await visit.api.me('POST', '/me/patients/{patient_id}/shl', {
    patient_id: record.record,
    body: {
      content,
      ...(label === '' ? {} : { label }),
      ...(passcode === '' ? {} : { passcode }),
      expires_at: new Date(visit.now + days * DAY_MS).toISOString(),
      long_term: isLive,
    },
  });
  return { goTo: visit.below(`${record.path}/links/${encodeURIComponent(id)}`) };
}
