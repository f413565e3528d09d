/**
 * HL7's label for content that an AI asserted (`meta.security` AIAST). Versions that an AI wrote have the label when they are
 * read, but not in the log (docs/spec/decisions.md, section 5, "What an AI wrote").
 */
import { isObject, type Json, type JsonObject, parseJson, printJson } from '../json/json.ts';

const SYSTEM = 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue';
const CODE = 'AIAST';
const LABEL = { system: SYSTEM, code: CODE, display: 'Artificial Intelligence asserted' } as const;
const LABEL_TEXT = JSON.stringify(LABEL);

/** Matches the beginning of a stored version, up to the members of `meta` that a client may set. */
const HEAD = /^\{"resourceType":"\w+","id":"[^"]+","meta":\{"versionId":"\d+","lastUpdated":"[^"]+"/;

/** Returns a stored version's JSON text with the label; the same text if it already has the label. */
export function withAiLabel(body: string): string {
  const head = body.includes('"security":') ? null : HEAD.exec(body);
  if (head !== null) return `${head[0]},"security":[${LABEL_TEXT}]${body.slice(head[0].length)}`;
  const { value, exact } = parseJson(body);
  return isObject(value) && !isAiLabelled(value) ? printJson(labelled(value), exact) : body;
}

/** Returns a resource with the label; the same object if it already has the label. */
export function labelled(resource: JsonObject): JsonObject {
  if (isAiLabelled(resource)) return resource;
  const meta = isObject(resource.meta) ? resource.meta : {};
  return { ...resource, meta: { ...meta, security: [...listLabels(resource), { ...LABEL }] } };
}

/** Returns a resource without the label; if `meta.security` or `meta` would be empty without it, that is removed too. */
export function withoutAiLabel(resource: JsonObject): JsonObject {
  if (!isAiLabelled(resource)) return resource;
  const { meta, ...others } = resource;
  const { security: _, ...rest } = isObject(meta) ? meta : {};
  const left = listLabels(resource).filter((each) => !isAiLabel(each));
  const kept: JsonObject = left.length === 0 ? rest : { ...rest, security: left };
  return Object.keys(kept).length === 0 ? others : { ...resource, meta: kept };
}

/** Returns whether a resource has the label. */
export function isAiLabelled(resource: JsonObject): boolean {
  return listLabels(resource).some(isAiLabel);
}

function listLabels({ meta }: JsonObject): readonly Json[] {
  return isObject(meta) && Array.isArray(meta.security) ? meta.security : [];
}

function isAiLabel(label: Json): boolean {
  return isObject(label) && label.system === SYSTEM && label.code === CODE;
}
