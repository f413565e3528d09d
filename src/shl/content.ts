/**
 * Creates the content of shared links: the summary of a record, the whole record, or a document, as JSON that is read in small
 * parts.
 */

import type { Queries } from '#queries/queries.ts';
import { changedTag } from '../clinical/summary/changed-tag.ts';
import { codesWithoutDisplay } from '../clinical/summary/displays.ts';
import { writeInSteps } from '../clinical/summary/document.ts';
import { Links } from '../clinical/summary/entries.ts';
import { codesIn, withNamedCodings } from '../clinical/summary/named-codings.ts';
import { readName } from '../clinical/summary/receipt.ts';
import { dropContacts, withoutContact } from '../clinical/summary/without-contact.ts';
import type { DocumentStore } from '../documents/store.ts';
import { heldContents } from '../fhir/document-content.ts';
import type { Freshness } from '../freshness/freshness.ts';
import type { Caller } from '../shared/access/caller.ts';
import { newUuid } from '../shared/ids.ts';
import { isObject, type JsonObject, parseStored, printJson } from '../shared/json/json.ts';
import { type AnswerBudget, tooCostly } from '../shared/load/answer-budget.ts';
import { inSlices } from '../shared/load/slices.ts';
import type { Micros } from '../shared/time/time.ts';
import type { Terminology } from '../terminology/terminology.ts';
import { type Earlier, earlierEntry } from './earlier-bundle.ts';
import { ChangedEntries, replacedEntry } from './replaced-bundle.ts';

/**
 * The version of the rules for creating content. Increment it with every change after which the same record results in a
 * different text; otherwise, `test/receipts/forms.test.ts` fails.
 */
export const LINK_FORM = 11;

/** Dependencies. */
export interface ContentDeps {
  readonly queries: Pick<
    Queries,
    'read' | 'vread' | 'summarize' | 'everything' | 'aiVersions' | 'replacedVersions'
  >;
  /** Waits until read models show everything that has been written. */
  readonly freshness: Pick<Freshness, 'catchUp'>;
  readonly displays: Terminology['displays'];
  readonly documents: Pick<DocumentStore, 'get'>;
  /** The FHIR base URL with its trailing slash. */
  readonly base: string;
  /** Returns a new id, used only in this content. */
  readonly newId: () => string;
  readonly now: () => Micros;
}

/** The requested content, and the reader for whom it is created. */
export interface ContentAsked {
  readonly caller: Caller;
  readonly record: string;
  /** `summary`, `everything` or `document/<id>`. */
  readonly content: string;
  readonly budget: AnswerBudget;
}

/** How many bytes of `everything` are read at a time, and the size of the pieces into which a text is divided. */
const PART_BYTES = 1_000_000;
const SLICE_BYTES = 64 * 1024;
/** A number of resources that is more than any part can contain. */
const MANY = 5_000;

/** Base64 encodes groups of this many bytes. */
const GROUP = 3;

/**
 * Returns the content as JSON text; undefined if there is none because the Patient or the document was deleted.
 * @throws Refusal too_large, unavailable
 */
export async function openContent(
  deps: ContentDeps,
  asked: ContentAsked,
): Promise<AsyncIterable<Buffer> | undefined> {
  const { content } = asked;
  if (content === 'summary') return summary(deps, asked);
  const patient = await deps.queries.read(asked.caller, 'Patient', asked.record, asked.budget);
  if (patient?.body == null) return undefined;
  if (content === 'everything') return everything(deps, asked);
  return document(deps, asked, patient.body, content.slice('document/'.length));
}

async function summary(
  { queries, displays, base, newId, now }: ContentDeps,
  { caller, record, budget }: ContentAsked,
): Promise<AsyncIterable<Buffer> | undefined> {
  const body = await queries.summarize(caller, record, base, budget, async ({ chosen: all, directory }) => {
    const chosen = await inSlices(withoutContact(all));
    const named = await displays(await inSlices(codesWithoutDisplay(chosen, directory)));
    const parts = { id: newId(), now: now(), directory, displays: named };
    const texts = await inSlices(writeInSteps(chosen, parts));
    const names = await displays(texts.flatMap(codesIn));
    return Buffer.concat(texts.map((text) => Buffer.from(withNamedCodings(text, names))));
  });
  return body && sliced(body);
}

/** Yields a long text in slices, so that other requests get a turn between them. */
async function* sliced(text: Buffer): AsyncGenerator<Buffer, undefined> {
  for (let at = 0; at < text.length; at += SLICE_BYTES) yield text.subarray(at, at + SLICE_BYTES);
}

/**
 * Yields a `collection` of the record and the directory entries to which it refers, in the order of `$everything`. Entries
 * that an AI wrote are left out, as in a summary, because other applications couldn't distinguish them from facts
 * (docs/spec/interface.md, section 2.5). A tag states how many of these entries had earlier versions by another author. Those
 * versions are in a Bundle, which is an entry after all the others. Versions that current versions replaced are in another
 * such Bundle.
 */
async function* everything(
  deps: ContentDeps,
  { caller, record }: ContentAsked,
): AsyncGenerator<Buffer, undefined> {
  const { queries, displays, base, freshness } = deps;
  let before = `{"resourceType":"Bundle","type":"collection","entry":[`;
  const asked = { count: MANY, used: new URLSearchParams() };
  const changed: Earlier[] = [];
  const revised = new ChangedEntries();
  let page = await queries.everything(caller, record, asked, base, { bytes: PART_BYTES });
  for (;;) {
    // Read after the page, so that all of the page's versions are included.
    await freshness.catchUp(['history']);
    const byAi = await queries.aiVersions(caller, record);
    const ofAi = new Set([...byAi.keys()].map((version) => version.replace(/\/_history\/.*$/, '')));
    const names = await displays(page.entries.flatMap(({ body }) => codesIn(body.toString())));
    for (const { type, id, body } of page.entries) {
      const version = `${type}/${id}/_history/${ofAi.has(`${type}/${id}`) ? versionIn(body) : ''}`;
      const earlier = byAi.get(version);
      if (earlier !== undefined) changed.push({ type, id, version: earlier });
      if (byAi.has(version)) continue;
      const text = body.toString();
      for (const name of readName({ type, id, body: text })) revised.add({ ...name, type, body: text });
      yield Buffer.from(`${before}{"fullUrl":"${base}${type}/${id}","resource":`);
      yield Buffer.from(withNamedCodings(text, names));
      before = '},';
    }
    if (page.next === undefined) break;
    const room = { bytes: PART_BYTES, named: page.named };
    page = await queries.everything(caller, record, { ...asked, cursor: page.next }, base, room);
  }
  for (const pieces of [earlierEntry(deps, caller, changed), replacedEntry(deps, caller, revised.found)]) {
    let isFirst = true;
    for await (const piece of pieces) {
      yield Buffer.from(isFirst ? `${before}${piece}` : piece);
      if (isFirst) before = ',';
      isFirst = false;
    }
  }
  const tag = changed.length === 0 ? '' : `,${changedTag(changed.length)}`;
  yield Buffer.from(`${before === '},' ? '}]' : before === ',' ? ']' : `${before}]`}${tag}}`);
}

function versionIn(body: Buffer): string {
  const { meta } = parseStored(body.toString());
  return isObject(meta) ? String(meta.versionId) : '';
}

/**
 * Returns the Patient, without contact data, and a DocumentReference that contains its bytes, because recipients can't fetch
 * them from their URL.
 */
async function document(
  { queries, documents, base }: ContentDeps,
  { caller, record, budget }: ContentAsked,
  patient: string,
  id: string,
): Promise<AsyncIterable<Buffer> | undefined> {
  const found = await queries.read(caller, 'DocumentReference', id, budget);
  if (found?.body == null) return undefined;
  const links = new Links(base);
  const resource = dropContacts('DocumentReference', parseStored(found.body), links);
  if (!belongsTo(resource, record)) return undefined;
  const person = printJson(dropContacts('Patient', parseStored(patient), links));
  const held = heldContents(resource, id);
  // The bytes will replace these marks in the text.
  const marks = held.map(() => newUuid());
  for (const [index, { attachment }] of held.entries()) {
    delete attachment.url;
    attachment.data = marks[index] ?? '';
  }
  const texts = printJson(resource).split(new RegExp(marks.join('|') || '$^', 'u'));
  const entry = (type: string, of: string): string => `{"fullUrl":"${base}${type}/${of}","resource":`;
  async function* written(): AsyncGenerator<Buffer, undefined> {
    const start = `{"resourceType":"Bundle","type":"collection","entry":[${entry('Patient', record)}`;
    yield Buffer.from(`${start}${person}},${entry('DocumentReference', id)}${texts[0] ?? ''}`);
    for (const [index, { blob }] of held.entries()) {
      yield* base64(await documents.get({ patient: record, document: id, blob }));
      yield Buffer.from(texts[index + 1] ?? '');
    }
    yield Buffer.from('}]}');
  }
  return written();
}

/** Returns whether a document belongs to a record. */
function belongsTo({ subject }: JsonObject, record: string): boolean {
  const reference =
    typeof subject === 'object' && subject !== null && 'reference' in subject && subject.reference;
  return typeof reference === 'string' && reference.endsWith(`Patient/${record}`);
}

async function* base64(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const part of bytes) {
    const all = Buffer.concat([rest, part]);
    const whole = all.length - (all.length % GROUP);
    rest = all.subarray(whole);
    yield Buffer.from(all.subarray(0, whole).toString('base64'));
  }
  yield Buffer.from(rest.toString('base64'));
}

/**
 * Passes on a text, up to a maximum length.
 * @throws Refusal too_large (413) if the text is longer
 */
export async function* atMost(
  source: AsyncIterable<Buffer>,
  most: number,
): AsyncGenerator<Buffer, undefined> {
  let bytes = 0;
  for await (const part of source) {
    bytes += part.length;
    if (bytes > most) throw tooCostly(`would exceed ${most} bytes: share it with long_term, or a summary`);
    yield part;
  }
}

/** Joins short parts until they reach a size. */
export async function* inParts(
  source: AsyncIterable<Buffer>,
  bytes: number,
): AsyncGenerator<Buffer, undefined> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const part of source) {
    parts.push(part);
    length += part.length;
    if (length < bytes) continue;
    yield Buffer.concat(parts);
    [parts, length] = [[], 0];
  }
  if (length > 0) yield Buffer.concat(parts);
}
