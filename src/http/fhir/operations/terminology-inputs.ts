/** Reads the inputs of terminology operations and builds their responses. */
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Coded } from '#src/terminology/codes.ts';
import { type Answer, FHIR_JSON } from '../../answer/answer.ts';
import type { Opening } from '../../grant/opening.ts';
import type { OperationPlace, OperationRequest } from '../operation.ts';

/**
 * Returns what an operation on codes requires of a grant: no scope, because the operation shows nothing from a record
 * (docs/oauth.md, "Scopes").
 */
export function ofTerminology(action: string): (place: OperationPlace) => Opening {
  return ({ type, id }) => ({ action, needs: [], type: type ?? null, id });
}

/** Returns a refusal (400) that names an input. */
export function badInput(name: string, diagnostics: string, code: 'required' | 'value' = 'value'): Refusal {
  return new Refusal('malformed', {
    code,
    diagnostics: `${name}: ${diagnostics}`,
    expression: `query.${name}`,
  });
}

/**
 * Returns a text input; undefined if it is absent or empty.
 * @throws Refusal malformed (400) if the input has another type
 */
export function readTextInput(request: OperationRequest, name: string): string | undefined {
  return readInput(request, name, /^(?!Boolean|Decimal|Integer|PositiveInt|UnsignedInt)/, 'a string');
}

/**
 * Returns a primitive input.
 * @param types allowed suffixes of `value[x]`
 */
function readInput(
  { query, inputs, places }: OperationRequest,
  name: string,
  types: RegExp,
  expected: string,
): string | undefined {
  const [, type = ''] = /\.value([A-Z]\w*)$/.exec(places?.get(name) ?? '') ?? [];
  if (inputs.some((input) => input.name === name) || (type !== '' && !types.test(type)))
    throw badInput(name, `the value must be ${expected}${type === '' ? '' : `, not value${type}`}`);
  const value = query.get(name);
  return value === null || value === '' ? undefined : value;
}

/**
 * Returns a boolean input.
 * @throws Refusal malformed (400)
 */
export function readBooleanInput(request: OperationRequest, name: string): boolean | undefined {
  const value = readInput(request, name, /^Boolean$/, 'a boolean');
  if (value === undefined) return undefined;
  if (value !== 'true' && value !== 'false') throw badInput(name, 'the value must be true or false');
  return value === 'true';
}

/**
 * Returns an input that is a whole number of at least 0.
 * @throws Refusal malformed (400)
 */
export function readCountInput(request: OperationRequest, name: string): number | undefined {
  const value = readInput(request, name, /^(?:Integer|PositiveInt|UnsignedInt)$/, 'an integer');
  if (value === undefined) return undefined;
  if (!/^\d+$/.test(value)) throw badInput(name, 'the value must be a whole number from 0');
  return Math.min(Number(value), 999_999_999);
}

/**
 * Returns an input that is an object: a Coding, a CodeableConcept or a resource.
 * @throws Refusal malformed (400) if it is a list
 */
export function readObjectInput({ inputs, query }: OperationRequest, name: string): JsonObject | undefined {
  const value = inputs.find((input) => input.name === name)?.value;
  if (value === undefined) {
    if ((query.get(name) ?? '') !== '')
      throw badInput(name, 'the value must be an object; send it in a Parameters body');
    return undefined;
  }
  if (!isObject(value)) throw badInput(name, 'the value must be an object');
  return value;
}

/**
 * Returns a Coding as a code with its system.
 * @throws Refusal malformed (400) without a code
 */
export function parseCoding(coding: Json, name: string): Coded {
  if (!isObject(coding)) throw badInput(name, 'the value must be a Coding');
  const member = (key: string): string | undefined => {
    const value = coding[key];
    if (value !== undefined && typeof value !== 'string')
      throw badInput(`${name}.${key}`, 'it must be a string');
    return value;
  };
  const code = member('code');
  if (code === undefined) throw badInput(`${name}.code`, 'a Coding must have a code here', 'required');
  return { system: member('system'), version: member('version'), code, display: member('display') };
}

/**
 * Returns the codes that an operation is about: `code` with the inputs that qualify it, `coding`, or the codings in a
 * `codeableConcept`.
 * @param system the system of `code`
 * @throws Refusal malformed (400) if there are none
 */
export function readCodes(request: OperationRequest, system: string | undefined, prefix = 'system'): Coded[] {
  const code = readTextInput(request, 'code');
  const coding = readObjectInput(request, 'coding');
  const concept = readObjectInput(request, 'codeableConcept');
  if ([code, coding, concept].filter((each) => each !== undefined).length > 1)
    throw badInput('code', 'provide only one of code, coding and codeableConcept');
  if (coding !== undefined) return [parseCoding(coding, 'coding')];
  if (concept !== undefined) {
    const codings = concept.coding;
    if (!Array.isArray(codings) || codings.length === 0)
      throw badInput('codeableConcept.coding', 'provide at least one', 'required');
    return codings.map((each, at) => parseCoding(each, `codeableConcept.coding[${at}]`));
  }
  if (code === undefined)
    throw badInput('code', `provide a code with its ${prefix}, or a coding`, 'required');
  return [
    { system, version: readTextInput(request, 'version'), code, display: readTextInput(request, 'display') },
  ];
}

/** A parameter in a response: a value under its JSON name, or parts. */
export type Output = { readonly name: string } & Readonly<Record<string, unknown>>;

/** Returns 200 with Parameters; undefined parameters are omitted. */
export function answerParameters(parameter: readonly (Output | undefined)[]): Answer {
  const parameters = parameter.filter((each) => each !== undefined);
  return { ...answerResource({ resourceType: 'Parameters', parameter: parameters }), shown: 0 };
}

/** Returns 200 with a resource. */
export function answerResource(resource: Readonly<Record<string, unknown>>): Answer {
  return { status: 200, headers: { 'Content-Type': FHIR_JSON }, body: JSON.stringify(resource), shown: 1 };
}

/** Returns a string parameter; undefined without a value. */
export function stringOutput(name: string, value: string | null | undefined): Output | undefined {
  return value === null || value === undefined ? undefined : { name, valueString: value };
}
