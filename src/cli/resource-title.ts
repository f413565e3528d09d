/** What a resource is about in a few words, for lists on a terminal: `Hypertension, active`. Pure. */
import { shownName } from '#src/fhir/human-name.ts';
import { text } from '#src/fhir/ips/parts.ts';
import { concept, joined } from '#src/fhir/ips/words.ts';
import { isObject, type JsonObject, parseJson } from '#src/shared/json.ts';
import { medicationConcept } from '#src/v1/medication.ts';
import { kindOf, timelineWords } from '#src/v1/timeline.ts';

/** Most characters of a title. */
const LONGEST = 60;

/** @param body FHIR JSON. @returns an empty text where the resource has no words that fit its type */
export function resourceTitle(type: string, body: string): string {
  const { value } = parseJson(body);
  if (!isObject(value)) return '';
  const kind = kindOf(type);
  const title = kind === undefined ? otherTitle(value) : wordsOf(timelineWords(kind, value));
  return title.length > LONGEST ? `${title.slice(0, LONGEST - 1)}…` : title;
}

function wordsOf({ title, summary }: ReturnType<typeof timelineWords>): string {
  return summary === null ? title : `${title}, ${summary}`;
}

/** Of types that the timeline does not show: a person's or an organization's name, or the code; and the status. */
function otherTitle(resource: JsonObject): string {
  const { name, title, description, code, type, relationship, status, activity } = resource;
  const named =
    shownName(name) ??
    text(name) ??
    text(title) ??
    concept(code) ??
    concept(medicationConcept(resource)) ??
    concept(type) ??
    concept(activity) ??
    text(description);
  return joined([named, concept(relationship), text(status)]) ?? '';
}
