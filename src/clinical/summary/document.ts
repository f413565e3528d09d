/**
 * Builds a record's International Patient Summary: a document Bundle that is valid against IPS 2.0.0,
 * https://hl7.org/fhir/uv/ips/STU2/. docs/summary.md explains its rules. Pure: the same record, time and id always produce the
 * same text.
 */

import { containedIn, text } from '#src/fhir/parts.ts';
import { type Coverage, coverageOfTypes } from '#src/shared/access/coverage.ts';
import { type JsonObject, printJson } from '#src/shared/json/json.ts';
import { atOnce, mapSteps, type Steps } from '#src/shared/load/slices.ts';
import { type Micros, toInstant } from '#src/shared/time/time.ts';
import { nameConcept } from '../reading/names/name.ts';
import { readDeath } from '../reading/person.ts';

import { changedTag } from './changed-tag.ts';
import { type Chosen, type Entry, lookupIn, SUMMARIZED_TYPES } from './choose.ts';
import { CHANGED_BY_AI } from './classify.ts';
import type { Beside, Look } from './columns.ts';
import { authorDevice, composition, custodian, type Filled } from './composition.ts';
import { type Displays, lookingIn, withDisplays } from './displays.ts';
import { earlierIn } from './earlier.ts';
import { entryText } from './entries.ts';
import { sectionNarrative } from './narrative.ts';
import { withImagingParts } from './radiology.ts';
import { missingMembers, withContained } from './required.ts';
import type { Source, Stored } from './source.ts';

/**
 * The version of the rules for generating summaries. Increase it with every change that makes the same record produce a
 * different document; otherwise `test/receipts/forms.test.ts` fails.
 */
export const SUMMARY_FORM = 11;

/** The inputs for a document, in addition to the resources chosen from the record. */
export interface DocumentParts {
  /** The id of the document, a UUID. */
  readonly id: string;
  /** When it is made. */
  readonly now: Micros;
  /** The directory entries that the chosen resources refer to, and the directory entries that these refer to. */
  readonly directory: readonly Stored[];
  /** Displays for codes without text, for the narratives. If absent, narratives show the codes. */
  readonly displays?: Displays;
  /** The part of the record that may be used. If absent, the whole record. */
  readonly covered?: Coverage;
}

const NO_DISPLAYS: Displays = new Map();

/** Returns the document's JSON text: `writeInSteps` without pauses. */
export function summaryDocument(chosen: Chosen, parts: DocumentParts): string {
  return atOnce(writeInSteps(chosen, parts)).join('');
}

/** Returns the document's JSON text in pieces, one entry per step. */
export function* writeInSteps(
  chosen: Chosen,
  { id, now, directory, displays = NO_DISPLAYS, covered = () => 'all' }: DocumentParts,
): Steps<string[]> {
  const { subject, links, leftOut, pastElsewhere } = chosen;
  const { base } = links;
  const inDirectory = lookupIn(directory);
  const known = new Map<Source, Source>();
  /**
   * Returns a source with displays added. The result is cached, because a hundred results may need the same practitioner's
   * name.
   */
  const showSource = (source: Source): Source => {
    const found = known.get(source);
    if (found !== undefined) return found;
    const after = withDisplays(source, displays);
    known.set(source, after);
    return after;
  };
  const lookUp = lookingIn(chosen, inDirectory);
  const look = (reference: string): Source | undefined => {
    const found = lookUp(reference);
    return found && showSource(found);
  };
  const fullUrl = ({ key, type, id: own }: Source): string =>
    type === 'DeviceUseStatement' ? `urn:uuid:${own}` : base + key;

  const lookBefore = (reference: string): Source | undefined => {
    const earlier = chosen.earlier.get(links.localKey(reference) ?? '');
    return earlier === undefined ? look(reference) : showSource(earlier);
  };
  const besideBy = (find: Look): Beside => ({
    today: toInstant(now).slice(0, 10),
    find,
    look: (reference, within) => containedIn(within, reference) ?? find(text(reference) ?? '')?.value,
    name: nameConcept,
    died: readDeath(subject.value),
  });
  const [beside, before] = [besideBy(look), besideBy(lookBefore)];
  const entries = new Map<string, Entry>(chosen.entries);
  // Iterating over a Set also visits items added during the iteration, so references in added entries are followed too.
  const referred = new Set(chosen.inDirectory);
  for (const key of referred) {
    const source = entries.has(key) ? undefined : inDirectory(key);
    yield;
    if (source === undefined) continue;
    entries.set(key, { source });
    links.addReferred(source, referred);
  }
  const sections: Filled[] = [];
  for (const each of chosen.sections) {
    const { section, sources } = each;
    const content = {
      ...each,
      sources: yield* mapSteps(sources, showSource),
      beside: yield* mapSteps(each.beside, showSource),
      earlier: earlierIn(each, chosen).map(showSource),
      coverage: coverageOfTypes(section.types ?? [], covered),
    };
    const text = yield* sectionNarrative(content, beside, before);
    sections.push({ section, text, entries: sources.map(fullUrl) });
  }
  const inside = (key: string): boolean => entries.has(key);
  const texts = [
    own(
      composition({
        ...{ id, now, base, patient: subject.value, patientUrl: fullUrl(subject), sections },
        ...{ leftOut, pastElsewhere },
        isWhole: coverageOfTypes(SUMMARIZED_TYPES, covered) === 'all',
      }),
    ),
    ...(yield* mapSteps([...entries.values()], ({ source, section }) => {
      const text = entryText(
        withContained(withImagingParts(source, links)),
        missingMembers(source, section),
        inside,
        links,
      );
      return `{"fullUrl":"${fullUrl(source)}","resource":${text}}`;
    })),
    own(authorDevice(base)),
    own(custodian(base)),
  ];
  const identifier = `{"system":"urn:ietf:rfc:3986","value":"urn:uuid:${id}"}`;
  return [
    `{"resourceType":"Bundle","id":"${id}",${changedTag(leftOut.get(CHANGED_BY_AI) ?? 0, ',')}"identifier":${identifier},"type":"document","timestamp":"${toInstant(now)}","entry":[`,
    ...texts.map((text, n) => (n === 0 ? text : `,${text}`)),
    ']}',
  ];
}

/** Returns the Bundle entry for a resource that exists only in the document. */
function own(resource: JsonObject): string {
  return `{"fullUrl":"urn:uuid:${String(resource.id)}","resource":${printJson(resource)}}`;
}
