/**
 * Renders the controls with which a person decides what an application may do: for which record, which data, and for how long.
 */
import { dayInWords } from '#src/clinical/reading/day-words.ts';
import { type Html, html } from '#src/shared/html.ts';
import type { Texts } from '../../pages/texts.ts';
import { type Choice, type FaultyField, MAX_NAME, NEW_RECORD, OFFLINE } from './choice.ts';
import { DAY_MS, FEW_ITEMS, fixedSentences, type ItemSentence } from './sentences.ts';
import type { ConsentView } from './view.ts';

/** The inputs of the controls. */
export interface Choosing extends Pick<ConsentView, 'offer' | 'choice' | 'faults' | 'now'> {
  readonly client: Pick<ConsentView['client'], 'name'>;
}

/** The anchor of the first control for a faulty field. */
const ANCHORS: Readonly<Record<FaultyField, string>> = {
  record: 'record',
  unavailable: 'record',
  given: 'given',
  family: 'family',
  birthdate: 'birthdate',
  items: 'items',
  days: 'days',
};

/** Returns the errors of the form, with links to the controls. */
export function faultsPart(say: Texts, faults: readonly FaultyField[]): Html {
  if (faults.length === 0) return html``;
  const links = faults.map(
    (fault) => html`<li><a href="#${ANCHORS[fault]}">${say(`fault.${fault}`)}</a></li>
`,
  );
  return html`<div role="alert" tabindex="-1" autofocus class="stack">
<h2>${say('fault.heading')}</h2>
<ul>
${links}</ul>
</div>`;
}

/** Returns the attributes that associate a control with its fault. */
function described(faults: readonly FaultyField[], fault: FaultyField): Html {
  return faults.includes(fault) ? html` aria-invalid="true" aria-describedby="${fault}-fault"` : html``;
}

function faultText(say: Texts, faults: readonly FaultyField[], fault: FaultyField): Html {
  return faults.includes(fault)
    ? html`<p class="fault" id="${fault}-fault">${say(`fault.${fault}`)}</p>`
    : html``;
}

/** Returns the controls for choosing a record. */
export function recordPart(say: Texts, { client, offer, choice, faults }: Choosing): Html {
  const { records, asksOther, mayStart } = offer;
  const choices = records.map(({ id, given, family, birth_date, relationship, via, keeper }) => ({
    value: id,
    name: [given, family].filter((part) => part !== null && part !== '').join(' ') || say('record.unnamed'),
    details: [
      say(relationship === 'self' ? 'record.own' : 'record.dependent'),
      ...(birth_date === null ? [] : [say('record.born', { day: dayInWords(say.lang, birth_date) })]),
      // The same person may have records in several places.
      ...(via === 'own' ? [say('record.started')] : []),
      ...(keeper === null || via === 'own' ? [] : [say('record.keeper', { project: keeper })]),
    ],
  }));
  const rows = [
    ...choices,
    ...(mayStart ? [{ value: NEW_RECORD, name: say('record.new'), details: [say('record.newnote')] }] : []),
  ].map(
    ({ value, name, details }, index) => html`<label class="choice">
<input type="radio" name="record" value="${value}"${index === 0 ? html` id="record"` : html``}${value === choice.record ? html` checked` : html``} required>
<span><strong><bdi>${name}</bdi></strong> <span class="quiet">${details.join(' · ')}</span></span>
</label>
`,
  );
  return html`<fieldset class="stack records"${described(faults, 'record')}>
<legend>${say('record.legend')}</legend>
${asksOther ? html`<p>${say.html('record.other', { app: html`<bdi>${client.name}</bdi>` })}</p>` : html``}
${faultText(say, faults, 'record')}${faultText(say, faults, 'unavailable')}<div class="choices">
${rows}</div>
${mayStart ? newRecordPart(say, choice, faults) : html``}
</fieldset>`;
}

function newRecordPart(say: Texts, { details }: Choice, faults: readonly FaultyField[]): Html {
  const { given, family, birth_date } = details;
  return html`<div class="new-record">
<div class="field"><label for="given">${say('record.given')}</label>
<input id="given" name="given" maxlength="${MAX_NAME}" autocomplete="given-name" value="${given}"${described(faults, 'given')}>
${faultText(say, faults, 'given')}</div>
<div class="field"><label for="family">${say('record.family')}</label>
<input id="family" name="family" maxlength="${MAX_NAME}" autocomplete="family-name" value="${family}"${described(faults, 'family')}>
${faultText(say, faults, 'family')}</div>
<div class="field"><label for="birthdate">${say('record.birthdate')}</label>
<input id="birthdate" name="birth_date" type="date" autocomplete="bday" value="${birth_date}"${described(faults, 'birthdate')}>
${faultText(say, faults, 'birthdate')}</div>
</div>`;
}

/**
 * Returns the requested items, each with a box that can be unchecked. If there are many boxes, they are in a collapsed group.
 */
export function itemsPart(say: Texts, { client, offer, choice, faults }: Choosing): Html {
  const app = html`<bdi>${client.name}</bdi>`;
  const kinds = (['read', 'write'] as const).map((access) => ({
    access,
    items: offer.items.filter((item) => item.access === access),
  }));
  const [first] = kinds.filter(({ items }) => items.length > 0);
  const parts = kinds.map(({ access, items }) => {
    if (items.length === 0) return html``;
    const isFirst = access === first?.access;
    const boxes = html`<p class="quiet small">${say('items.hint')}</p>
<div class="ticks">
${items.map((item, index) => tick(item, choice, isFirst && index === 0))}</div>`;
    const shown = items.length > FEW_ITEMS ? groupPart(say, boxes, faults.includes('items')) : boxes;
    return html`<fieldset class="stack"${described(faults, 'items')}>
<legend>${say.html(access === 'read' ? 'items.read' : 'items.write', { app })}</legend>
${isFirst ? faultText(say, faults, 'items') : html``}${shown}
</fieldset>`;
  });
  return html`${parts}`;
}

/**
 * Returns a group of boxes that says whether any are unchecked. It contains three texts, and the stylesheet shows the one that
 * applies.
 */
function groupPart(say: Texts, boxes: Html, isOpen: boolean): Html {
  return html`<details class="group"${isOpen ? html` open` : html``}>
<summary>${say('items.choose')} <span class="quiet small"><span class="whole">${say('items.whole')}</span><span class="partly">${say('items.partly')}</span><span class="nothing">${say('items.nothing')}</span></span></summary>
${boxes}
</details>`;
}

function tick(
  { id, sentence }: Pick<ItemSentence, 'id' | 'sentence'>,
  { kept }: Choice,
  isFirst: boolean,
): Html {
  return html`<label class="tick">
<input type="checkbox" name="item" value="${id}"${isFirst ? html` id="items"` : html``}${kept.has(id) ? html` checked` : html``}>
<span>${sentence}</span>
</label>
`;
}

/** Returns the part about items that can't be left out. */
export function alwaysPart(say: Texts, { client, offer }: Pick<Choosing, 'client' | 'offer'>): Html {
  const sentences = fixedSentences(say, offer.scopes, client.name).map(
    (sentence) => html`<li>${sentence}</li>
`,
  );
  return html`<section class="stack" aria-labelledby="always">
<h2 id="always">${say('always.legend')}</h2>
<ul class="always">
${sentences}</ul>
</section>`;
}

/** Returns the controls for choosing a duration and for allowing access while the person is away. */
export function daysPart(say: Texts, { client, offer, choice, faults, now }: Choosing): Html {
  const choices = offer.days.map(
    (days, index) => html`<label class="choice">
<input type="radio" name="days" value="${days}"${index === 0 ? html` id="days"` : html``}${days === choice.days ? html` checked` : html``} required>
<span><strong>${say('days.choice', { days })}</strong> <span class="quiet">${say('days.until', { day: say.day(now + days * DAY_MS) })}</span></span>
</label>
`,
  );
  const offline = offer.scopes.includes('offline_access')
    ? html`<div class="ticks">
${tick({ id: OFFLINE, sentence: say('sentence.offline', { app: client.name }) }, choice, false)}</div>
<p class="quiet small">${say('offline.hint', { app: client.name })}</p>`
    : html``;
  return html`<fieldset class="stack"${described(faults, 'days')}>
<legend>${say('days.legend')}</legend>
${faultText(say, faults, 'days')}<div class="choices days">
${choices}</div>
${offline}
</fieldset>`;
}

/** Returns the two buttons. They stay visible while the person reads, and come last in keyboard order. */
export function decidePart(say: Texts): Html {
  return html`<div class="decide">
<button class="button second" name="decision" value="allow">${say('consent.allow')}</button>
<button class="button second" name="decision" value="deny" formnovalidate>${say('consent.deny')}</button>
</div>`;
}
