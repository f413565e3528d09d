/** Describes a resource in a few words, for lists in a terminal: `Hypertension, active`. Pure. */

import { labelCode, nameConcept } from '#src/clinical/reading/names/name.ts';
import { joined } from '#src/clinical/reading/words.ts';
import { bareCodes, type Displays, withDisplays } from '#src/clinical/summary/displays.ts';
import { shownName } from '#src/fhir/human-name.ts';
import { text } from '#src/fhir/parts.ts';
import type { SystemCode } from '#src/fhir/terminology.ts';
import { isObject, type JsonObject, parseJson } from '#src/shared/json/json.ts';
import { medicationConcept } from '#src/v1/medication.ts';
import { withNames } from '#src/v1/phrase.ts';
import { type TimelineWords, timelineKind, timelineWords } from '#src/v1/timeline.ts';

/** The maximum length of a title. */
const LONGEST = 60;

/**
 * Returns a resource's short title.
 * @param body FHIR JSON.
 * @param displays names of codes for which the resource has no text.
 * @returns an empty string if the resource contains no text that suits its type
 */
export function resourceTitle(type: string, body: string, displays: Displays = new Map()): string {
  const { value: written } = parseJson(body);
  if (!isObject(written)) return '';
  const { value } = withDisplays({ value: written }, displays);
  const kind = timelineKind(type);
  const title = kind === undefined ? otherTitle(value) : joinWords(timelineWords(kind, value));
  return title.length > LONGEST ? `${title.slice(0, LONGEST - 1)}…` : title;
}

/**
 * Returns the codes for which the resources have no text, without duplicates.
 * @param bodies FHIR JSON
 */
export function codesToName(bodies: readonly string[]): SystemCode[] {
  return bareCodes(bodies.map((body) => parseJson(body).value));
}

function joinWords({ title, titleSystem, summary, summaryCodes }: TimelineWords): string {
  const shown = titleSystem === null ? title : labelCode({ system: titleSystem, code: title });
  const rest =
    summary === null ? undefined : withNames({ text: summary, codes: summaryCodes }, () => undefined);
  return joined([shown, rest]) ?? '';
}

/**
 * Returns the title for types that the timeline doesn't show: the name of a person or an organization, or otherwise the code;
 * followed by the status.
 */
function otherTitle(resource: JsonObject): string {
  const { name, title, description, code, type, relationship, status, activity } = resource;
  const named =
    shownName(name) ??
    text(name) ??
    text(title) ??
    nameConcept(code) ??
    nameConcept(medicationConcept(resource)) ??
    nameConcept(type) ??
    nameConcept(activity) ??
    text(description);
  return joined([named, nameConcept(relationship), text(status)]) ?? '';
}
