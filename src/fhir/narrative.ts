/**
 * Keeps narratives correct after a partial change, because https://hl7.org/fhir/R4/http.html#patch requires the server to
 * ensure that the text isn't clinically unsafe. docs/spec/decisions.md, section 5 "Writes". Pure.
 */
import { cut } from '#src/shared/cut.ts';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { sameJson } from '#src/shared/json/json-equal.ts';
import { without } from '#src/shared/json/json-value.ts';
import { Refusal } from '#src/shared/refusal.ts';

/**
 * Returns the resource after a PATCH or a v1 PUT, with a valid narrative. A `generated` narrative is removed if the data
 * changed; it is kept if only `meta` changed, or if the narrative itself changed too. A narrative with the status `empty`,
 * which means that the text is missing, is kept.
 * @throws Refusal invalid (422) if a person wrote the narrative (`additional`, `extensions`) and the data changed
 */
export function settleNarrative(before: JsonObject, after: JsonObject): JsonObject {
  if (!isObject(after.text) || !sameJson(before.text, after.text)) return after;
  if (sameJson(without(before, 'text', 'meta'), without(after, 'text', 'meta'))) return after;
  const { status } = after.text;
  if (status === 'generated') return without(after, 'text');
  if (status === 'empty') return after;
  const type = String(after.resourceType);
  throw new Refusal('invalid', {
    code: 'business-rule',
    diagnostics: `the change would make the narrative (status ${cut(String(status), 64)}) wrong; change ${type}.text too`,
    expression: `${type}.text`,
  });
}
