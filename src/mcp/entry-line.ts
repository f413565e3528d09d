/** Prints a FHIR resource as one line of text, with the clinical data that can be read from it. Pure. */
import { happened } from '#src/clinical/reading/dates.ts';
import { labelCode, nameConcept } from '#src/clinical/reading/names/name.ts';
import { readPerson } from '#src/clinical/reading/person.ts';
import { withdrawnAs } from '#src/clinical/reading/status.ts';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { withNames } from '#src/v1/phrase.ts';
import { timelineKind, timelineWords } from '#src/v1/timeline.ts';

/** The security label for content that an AI wrote (HL7 v3-ObservationValue). */
const AI_LABEL = 'AIAST';

/** Returns a resource's `Type/id/_history/version`; without a version if it has none. */
export function printVersion({ resourceType, id, meta }: JsonObject): string {
  const version = isObject(meta) && typeof meta.versionId === 'string' ? `/_history/${meta.versionId}` : '';
  return `${String(resourceType)}/${String(id)}${version}`;
}

/** Returns whether an AI wrote a resource. */
export function isOfAi({ meta }: JsonObject): boolean {
  const labels = isObject(meta) && Array.isArray(meta.security) ? meta.security : [];
  return labels.some((label) => isObject(label) && label.code === AI_LABEL);
}

/** Returns a resource as one line: its version, when it happened, and what it says. */
export function entryLine(resource: JsonObject): string {
  const type = String(resource.resourceType);
  const { date } = happened({ type, value: resource });
  const withdrawn = withdrawnAs(resource);
  const forbidden = resource.doNotPerform === true ? ['must NOT be given'] : [];
  const ended = withdrawn === undefined ? [] : [withdrawn];
  const said = [date ?? 'no date', ...forbidden, words(type, resource), ...ended];
  return `${printVersion(resource)}: ${oneLine(said.join(' · '))}`;
}

function words(type: string, resource: JsonObject): string {
  if (type === 'Patient') {
    const { name, born, died } = readPerson(resource);
    const death = died === undefined ? undefined : ['died', died.date].filter(Boolean).join(' ');
    return [name, born === undefined ? undefined : `born ${born}`, death].filter(Boolean).join(', ');
  }
  const kind = timelineKind(type);
  if (kind === undefined) return nameConcept(resource.code ?? resource.type) ?? type;
  const { title, titleSystem, summary, summaryCodes } = timelineWords(kind, resource);
  const named = titleSystem === null ? title : labelCode({ system: titleSystem, code: title });
  if (summary === null) return named;
  return `${named}: ${withNames({ text: summary, codes: summaryCodes }, () => undefined)}`;
}

/** Returns the text without line breaks and control characters. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}
