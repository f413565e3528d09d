/** Splits a search into names, modifiers and values, without interpreting them. https://hl7.org/fhir/R4/search.html */
import { cut } from '#src/shared/cut.ts';
import { nearest } from '#src/shared/nearest.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** One `name:modifier=a,b` in a query. */
export interface RawParameter {
  readonly name: string;
  readonly modifier?: string;
  /** The alternatives between commas, still escaped (`\,` `\|` `\$`). There is at least one, and none is empty. */
  readonly values: readonly string[];
  /** The original text, for the `self` link. */
  readonly text: string;
}

/**
 * The maximum number of alternatives in all parameters together, because each may be a value bound to a statement, which
 * accepts at most 65,535.
 */
const MAX_VALUES = 1_000;

/** The maximum number of parameters per search, because each may be a condition that is checked for every row read. */
const MAX_PARAMETERS = 50;

/**
 * Splits a query; parameters with empty values are left out (docs/spec/decisions.md, section 5).
 * @throws Refusal `malformed` naming the first parameter beyond the limit, or a parameter with a NUL character
 */
export function parseRaw(query: URLSearchParams): RawParameter[] {
  const parameters: RawParameter[] = [];
  let count = 0;
  for (const [key, text] of query) {
    const colon = key.indexOf(':');
    if (text.includes('\0')) throw badParameter(key, 'the value contains a NUL character');
    const values = split(text, ',').filter((value) => value !== '');
    if (values.length === 0) continue;
    if (parameters.length === MAX_PARAMETERS) throw tooManyParameters();
    count += values.length;
    if (count > MAX_VALUES) {
      throw badParameter(key, `a search can have at most ${MAX_VALUES} values, counting each alternative`);
    }
    parameters.push({
      name: colon < 0 ? key : key.slice(0, colon),
      ...(colon < 0 ? {} : { modifier: key.slice(colon + 1) }),
      values,
      text,
    });
  }
  return parameters;
}

function tooManyParameters(): Refusal {
  return new Refusal('malformed', {
    code: 'too-costly',
    diagnostics: `a search can have at most ${MAX_PARAMETERS} parameters; separate alternative values of one parameter by commas`,
    expression: 'query',
  });
}

/** Splits at separators that aren't escaped by a backslash. Parts stay escaped. */
export function split(text: string, separator: ',' | '|' | '$'): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i += 1) {
    if (text[i] === '\\') i += 1;
    else if (text[i] === separator) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/** Replaces the escapes `\,` `\|` `\$` `\\` in a part. */
export function unescaped(part: string): string {
  return part.includes('\\') ? part.replaceAll(/\\([,|$\\])/g, '$1') : part;
}

/** Returns a parameter's name with its modifier, as in a query. */
export function parameterKey(parameter: Pick<RawParameter, 'name' | 'modifier'>): string {
  return parameter.modifier === undefined ? parameter.name : `${parameter.name}:${parameter.modifier}`;
}

/** Returns true if a parameter follows a reference (`subject.name`, `subject:Patient.name`). */
export function isChain({ name, modifier = '' }: Pick<RawParameter, 'name' | 'modifier'>): boolean {
  return name.includes('.') || modifier.includes('.');
}

/** Returns a 400 that names the parameter. */
export function badParameter(name: string, why: string): Refusal {
  return new Refusal('malformed', {
    code: 'value',
    diagnostics: `search parameter ${cut(name, 100)}: ${why}`,
    expression: `query.${cut(name, 100)}`,
  });
}

/**
 * Parses the value of `:missing`.
 * @throws Refusal `malformed`
 */
export function parseTruth(parameter: RawParameter): boolean {
  const [value] = parameter.values;
  if (parameter.values.length === 1 && (value === 'true' || value === 'false')) return value === 'true';
  throw badParameter(parameterKey(parameter), 'the value must be true or false');
}

/** Refuses every modifier except the supported ones. */
export function refuseModifier(parameter: RawParameter, supported: readonly string[] = []): void {
  if (parameter.modifier === undefined || supported.includes(parameter.modifier)) return;
  const { name, modifier } = parameter;
  const near = nearest(modifier, supported);
  const advice =
    near !== undefined
      ? `; did you mean \`${name}:${near}\`?`
      : supported.length === 0
        ? ''
        : `; it supports ${supported.map((each) => `:${each}`).join(', ')}`;
  throw badParameter(parameterKey(parameter), `modifier :${cut(modifier, 50)} is not supported${advice}`);
}
