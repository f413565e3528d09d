/**
 * Builds element paths for messages: FHIRPath made of element names, as HL7 writes them in `OperationOutcome.issue.expression`
 * (https://hl7.org/fhir/R4/operationoutcome-definitions.html#OperationOutcome.issue.expression). Like HL7, this writes the
 * element `div` as `Patient.text.div`, although FHIRPath's grammar requires quotes around it.
 */
import { cut } from '#src/shared/cut.ts';
import { isTypeName, PRIMITIVES } from './definitions/tables.ts';
import { findNamedElement, type NamedElement } from './patch/elements.ts';

/** Maximum length of a member name in a path. */
const MAX_NAME = 100;

/** Words that FHIRPath doesn't read as element names; no R4 element has such a name. */
const KEYWORDS = new Set(['and', 'or', 'xor', 'implies', 'mod', 'true', 'false']);

/**
 * Returns a JSON name as a FHIRPath step. Removes the `_` from a primitive's `_name` (but leaves `__proto__` unchanged), and
 * quotes the name if it isn't an identifier.
 */
export function pathName(key: string): string {
  const name = cut(key.replace(/^_(?=[A-Za-z])/, ''), MAX_NAME);
  if (/^[A-Za-z]\w*$/.test(name) && !KEYWORDS.has(name)) return name;
  return `\`${name.replace(/[\x00-\x1f]/g, ' ').replace(/[\\`]/g, '\\$&')}\``;
}

/**
 * Returns a choice element with its type: `value.ofType(boolean)`. FHIRPath uses Quantity for SimpleQuantity, which is a
 * profile.
 */
export function choiceStep(name: string, type: string): string {
  return `${name}.ofType(${type === 'SimpleQuantity' ? 'Quantity' : type})`;
}

/**
 * Converts a path of JSON names to FHIRPath: `Parameters.parameter[0].valueBoolean` becomes
 * `Parameters.parameter[0].value.ofType(boolean)`, `Patient._name` becomes `Patient.name`. A path that is already FHIRPath is
 * returned unchanged.
 */
export function elementPath(path: string): string {
  const [type = '', ...steps] = path.match(/(?:`(?:[^`\\]|\\.)*`|[^.`])+/g) ?? [];
  let holder: string | undefined = isTypeName(type) ? type : undefined;
  let found = type;
  for (const step of steps) {
    const [, name = '', index = ''] = /^(.*?)(\[\d+\])?$/s.exec(step) ?? [];
    if (name === 'resourceType') continue;
    const bare = name.replace(/^_/, '');
    const element: NamedElement | undefined =
      holder === undefined ? undefined : findNamedElement(holder, bare);
    holder = element?.code !== undefined && PRIMITIVES.has(element.code) ? 'Element' : element?.code;
    if (element?.definition.choice && element.definition.name !== bare)
      found += `.${choiceStep(element.definition.name, element.code ?? '')}${index}`;
    else found += `.${/^`|\(/.test(name) ? name : pathName(name)}${index}`;
  }
  return found;
}
