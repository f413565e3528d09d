/**
 * Results of radiology in a summary: their profile takes an ImagingStudy in `partOf`, and nothing else of R4's types.
 * https://hl7.org/fhir/uv/ips/STU2/StructureDefinition-Observation-results-radiology-uv-ips.html
 */
import { isObject, type JsonObject, parseJson, printJson } from '#src/shared/json.ts';
import { type Links, logical } from './entries.ts';
import { codes, objects, text } from './parts.ts';
import type { Source } from './source.ts';

/**
 * An Observation of category `imaging` whose `partOf` has no literal reference to anything but an ImagingStudy: what
 * has a URL stands as a logical reference, what it contains and nothing else refers to is left out.
 */
export function withImagingParts(source: Source, links: Links): Source {
  if (source.type !== 'Observation' || !source.body.includes('"partOf":')) return source;
  const { value } = parseJson(source.body);
  if (!isObject(value) || !codes(value.category).includes('imaging')) return source;
  const partOf = objects(value.partOf).flatMap((part) => partIn(part, links));
  const { partOf: _partOf, contained: _contained, ...others } = value;
  const kept: JsonObject = { ...others, ...(partOf.length > 0 && { partOf }) };
  const all = objects(value.contained);
  const bodies = printJson([kept, ...all]);
  const contained = all.filter(
    (resource) =>
      bodies.includes(`"#${String(resource.id)}"`) || printJson(resource).includes('"reference":"#"'),
  );
  return { ...source, body: printJson({ ...kept, ...(contained.length > 0 && { contained }) }) };
}

function partIn(part: JsonObject, links: Links): JsonObject[] {
  const { reference, ...others } = part;
  const parsed = links.parsed(text(reference) ?? '');
  if (parsed.kind === 'contained') return [];
  if (parsed.kind !== 'local') return [part];
  return [{ ...logical(`${links.base}${parsed.type}/${parsed.id}`, parsed.type), ...others }];
}
