/** Shows a version of an entry: its elements in words, next to another version, and its FHIR data. */
import type { EntryContent, StoredVersion } from '#queries/rest/entry-content.ts';
import { nameConcept } from '#src/clinical/reading/names/name.ts';
import { bareCodes, withDisplays } from '#src/clinical/summary/displays.ts';
import { shownName } from '#src/fhir/human-name.ts';
import { containedIn, objects, text } from '#src/fhir/parts.ts';
import { withoutVersion } from '#src/fhir/without-version.ts';
import { withoutAiLabel } from '#src/shared/access/ai-label.ts';
import { cut } from '#src/shared/cut.ts';
import { type Html, html } from '#src/shared/html.ts';
import { isUuid } from '#src/shared/ids.ts';
import { isObject, type Json, type JsonObject, parseStored, printJson } from '#src/shared/json/json.ts';
import { Indenter } from '../../answer/pretty.ts';
import { titleOfResource } from '../../reading/resource-title.ts';
import { sizeText } from '../documents.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';
import { changeRow, elementHead, type NameReference, valueWords } from './element-values.ts';
import { type ValueWords, wordsOfValue } from './resource-words.ts';

/** Maximum length of the FHIR data on the page; the download contains all of it. */
const MOST_JSON = 60_000;

/** Elements that aren't shown: they only name the entry or its record, or they are shown elsewhere. */
const UNSAID = /^(?:resourceType|id|subject|patient|contained)$/;

/** The elements shown first on the page. The other elements follow, and the elements in `LAST` come at the end. */
const FIRST =
  /^(?:modifierExtension|implicitRules|doNotPerform|status|clinicalStatus|verificationStatus|criticality|value|dataAbsentReason|interpretation|component|referenceRange|dosage|dosageInstruction|reason|severity|reaction|onset|abatement|effective|occurrence|performed|period|authoredOn|recordedDate|dateAsserted|performer|requester|recorder|asserter|informationSource|note)/;
const LAST = /^(?:identifier|meta|extension|language|text)$/;

/** The versions of an entry with names for their codes, and how their values are written. */
export interface ReadEntry {
  readonly content: EntryContent;
  readonly type: string;
  /** The parsed versions by number; only versions that were read in full are included. */
  readonly values: ReadonlyMap<number, JsonObject>;
  readonly words: ValueWords;
}

/** Parses the versions of an entry, and names their codes and the targets of their references. */
export async function readEntry(
  { say, deps }: Visit,
  { record }: OpenRecord,
  type: string,
  content: EntryContent,
): Promise<ReadEntry> {
  const read = [...content.versions.values()].flatMap(({ version, body, byAi }): [number, JsonObject][] =>
    // The page itself says that an AI wrote the version, so the label is left out.
    body === null ? [] : [[version, byAi ? withoutAiLabel(parseStored(body)) : parseStored(body)]],
  );
  const told = [content.shown, content.human].flatMap((each): JsonObject[] =>
    read.flatMap(([version, value]) => (version === each?.version ? [value] : [])),
  );
  const referred = await deps.pages.entryContents.referred(record, idsIn(told));
  const others = new Map([...referred].map(([name, body]) => [name, parseStored(body)]));
  const names = await deps.services.displays(
    bareCodes([...read.map(([, value]) => value), ...others.values()]),
  );
  const withNames = (value: JsonObject): JsonObject => withDisplays({ value }, names).value;
  const nameReference: NameReference = (reference) => {
    const [key = ''] = /[A-Za-z]+\/[0-9a-f-]{36}/.exec(reference) ?? [];
    const contained = told.map((each) => containedIn(each, reference));
    const found = others.get(key) ?? contained.find((each) => each !== undefined);
    return found === undefined ? undefined : resourceName(withNames(found));
  };
  return {
    content,
    type,
    values: new Map(read.map(([version, value]) => [version, withNames(withoutVersion(value))])),
    words: valueWords(say, type, nameReference),
  };
}

/**
 * Returns a resource's name: the name of a person, an organization or a device, a title, or otherwise the resource's subject.
 */
function resourceName(resource: JsonObject): string | undefined {
  const { name, title, deviceName } = resource;
  if (typeof name === 'string') return name;
  const [device] = objects(deviceName).flatMap(({ name: own }) => text(own) ?? []);
  return shownName(name) ?? text(title) ?? device ?? titleOfResource(resource);
}

/** Maximum number of references whose targets are named. */
const MOST_REFERENCES = 200;

function idsIn(values: readonly JsonObject[]): string[] {
  const found = new Set<string>();
  const visit = (value: Json): void => {
    if (found.size >= MOST_REFERENCES) return;
    if (Array.isArray(value)) for (const item of value) visit(item);
    else if (isObject(value)) {
      const { reference } = value;
      const id = typeof reference === 'string' ? /\/([0-9a-f-]{36})(?:\/|$)/.exec(reference)?.[1] : undefined;
      if (id !== undefined && isUuid(id)) found.add(id);
      for (const member of Object.values(value)) visit(member);
    }
  };
  for (const value of values) visit(value);
  return [...found];
}

/** Returns an entry's name, taken from the version shown; undefined if it has none. */
export function titleIn({ content, values }: ReadEntry): string | undefined {
  const shown = values.get(content.shown.version);
  return shown === undefined ? undefined : resourceName(shown);
}

/**
 * Returns the name of the concept that the version shown is about, in the same words as in all other views; undefined if there
 * isn't one.
 */
export function conceptIn({ content, values }: ReadEntry): string | undefined {
  const { code, medicationCodeableConcept, vaccineCode } = values.get(content.shown.version) ?? {};
  return nameConcept(code ?? medicationCodeableConcept ?? vaccineCode);
}

/**
 * Returns the elements of the version shown. If an AI wrote it, the elements of the last version that somebody else wrote are
 * shown next to them.
 */
export function contentPart(say: Visit['say'], { content, type, values, words }: ReadEntry): Html {
  const { shown, human } = content;
  const value = values.get(shown.version);
  if (value === undefined) return html`<p class="note">${say('entry.toolarge')}</p>`;
  const before = human === undefined ? undefined : values.get(human.version);
  const names = orderedNames([value, before ?? {}]);
  const shownIn = (of: JsonObject, name: string): Html => {
    const element = of[name];
    return element === undefined ? html`–` : wordsOfValue(element, name, words);
  };
  if (human === undefined || before === undefined)
    return html`<dl class="facts">
${names.map(
  (name) => html`<div><dt>${elementHead(say, name, type)}</dt><dd>${shownIn(value, name)}</dd></div>
`,
)}</dl>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-labelledby="content">
<table class="differences">
<thead><tr><th scope="col">${say('proposals.element')}</th><th scope="col">${say('entry.aicolumn')} <span class="badge ai">${say('ai.unverified')}</span></th><th scope="col">${say('entry.humancolumn', { version: human.version })}</th></tr></thead>
<tbody>
${names.map(
  (name) => html`<tr><th scope="row">${elementHead(say, name, type)}</th>
<td>${shownIn(value, name)}</td><td>${shownIn(before, name)}</td></tr>
`,
)}</tbody>
</table>
</div>`;
}

function orderedNames(values: readonly JsonObject[]): string[] {
  const names = [...new Set(values.flatMap((value) => Object.keys(value)))].filter(
    (name) => !UNSAID.test(name) && (name !== 'meta' || values.some(({ meta }) => isMarked(meta))),
  );
  const place = (name: string): number => {
    if (LAST.test(name)) return 2;
    return FIRST.test(name) ? 0 : 1;
  };
  const order = FIRST.source.slice('^(?:'.length, -1).split('|');
  const rank = (name: string): number => order.findIndex((each) => name.startsWith(each));
  return names.toSorted((a, b) => place(a) - place(b) || rank(a) - rank(b));
}

/**
 * Returns whether a resource's labels say something about the resource itself: for example, that it is confidential or made
 * up.
 */
function isMarked(meta: Json | undefined): boolean {
  return isObject(meta) && (objects(meta.security).length > 0 || objects(meta.tag).length > 0);
}

/** Returns what changed in a version since the previous one, in words; empty for a first version or a deletion. */
export function changesPart(say: Visit['say'], read: ReadEntry, version: number): Html {
  const { content, type, values, words } = read;
  const [own, earlier] = [version, version - 1].map((number) => content.versions.get(number));
  if (own === undefined || earlier === undefined || own.size === null || earlier.size === null) return html``;
  const [after, before] = [version, version - 1].map((number) => values.get(number));
  if (after === undefined || before === undefined)
    return html`<p class="quiet small">${say('entry.toolarge')}</p>`;
  const names = orderedNames([after, before]).filter(
    (name) => printJson(after[name]) !== printJson(before[name]),
  );
  if (names.length === 0) return html`<p class="quiet small">${say('entry.same')}</p>`;
  const rows = names.map((name) =>
    changeRow(
      say,
      type,
      name,
      { before: before[name], after: after[name] },
      { words, hasBefore: true, same: say('entry.detail') },
    ),
  );
  const label = `${say('entry.changes')}: ${say('entry.number', { version })}`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
<table class="differences small">
<caption>${say('entry.changes')}</caption>
<thead><tr><th scope="col">${say('proposals.element')}</th><th scope="col">${say('entry.before')}</th><th scope="col">${say('entry.after')}</th></tr></thead>
<tbody>
${rows}</tbody>
</table>
</div>`;
}

/**
 * Returns the FHIR data of the version shown, collapsed, with a link to download it.
 * @param url the download's URL
 */
export function jsonPart(say: Visit['say'], { version, size, body }: StoredVersion, url: string): Html {
  const of = { version, size: sizeText(say, size ?? 0) };
  const whole = body === null ? undefined : new Indenter().indent(Buffer.from(body)).toString();
  const isCut = whole !== undefined && whole.length > MOST_JSON;
  return html`<details class="filters json"><summary>${say('entry.json', of)}</summary>
${
  whole === undefined
    ? html`<p class="quiet">${say('entry.toolarge')}</p>`
    : html`<pre class="mono" lang="en" dir="ltr" tabindex="0">${cut(whole, MOST_JSON)}</pre>`
}
${isCut ? html`<p class="quiet">${say('entry.cut')}</p>` : html``}</details>
<p class="buttons"><a class="button second small" href="${url}">${say('entry.save', of)}</a></p>`;
}
