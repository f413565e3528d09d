/**
 * Adapts radiology results to their IPS profile, which allows only an ImagingStudy in `partOf`.
 * https://hl7.org/fhir/uv/ips/STU2/StructureDefinition-Observation-results-radiology-uv-ips.html
 */
import { isObject, type JsonObject, parseJson, printJson } from '#src/shared/json/json.ts';
import { codes, objects, text } from '../../fhir/parts.ts';
import { type Links, logical } from './entries.ts';
import type { Source } from './source.ts';

/**
 * Returns an Observation in the category `imaging` whose only literal references in `partOf` are to an ImagingStudy. Other
 * references with a URL become logical references. References to contained resources are removed, together with each contained
 * resource that nothing else refers to.
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
