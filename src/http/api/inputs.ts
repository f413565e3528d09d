/** Validates a request's inputs against their schemas and names every input that fails (docs/spec/decisions.md, section 2). */

import { z } from 'zod';
import { cut } from '#src/shared/cut.ts';
import { Faults } from '#src/shared/faults.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { RawBody } from '../body.ts';
import { addIssues, sentence } from './issues.ts';

/** Inputs as received. */
export interface Inputs {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Plain JSON; undefined if there was no body. */
  readonly body: unknown;
  /** The same body with `LosslessNumber`s; set if JavaScript would print one of its numbers differently. */
  readonly exact?: JsonObject;
  /** Used instead of a JSON body: a body in one of the route's other media types. */
  readonly raw?: RawBody;
}

/** The schemas for a route's inputs. */
interface Schemas<Query extends z.ZodObject, Body extends z.ZodType> {
  readonly params?: z.ZodObject;
  readonly query?: Query;
  readonly body?: Body;
  readonly framed?: readonly string[];
  readonly otherwise?: string;
}

const NOTHING = z.strictObject({});
/** Characters that JSON can contain but text in a record can't (docs/spec/decisions.md, section 2). */
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/;

/**
 * Parses all inputs.
 * @throws Refusal invalid (422), with one issue for each of the first few faults, located by `path.<name>`, `query.<name>`, or
 *   the dotted path into the body.
 */
export function parseInputs<Params, Query extends z.ZodObject, Body extends z.ZodType>(
  schemas: Schemas<Query, Body>,
  inputs: Inputs,
): { params: Params; query: z.output<Query>; body: z.output<Body>; exact?: JsonObject; raw?: RawBody } {
  const faults = new Faults();
  const check = (schema: z.ZodType, value: unknown, place: string): unknown => {
    const result = schema.safeParse(value, { error: sentence });
    if (result.success) return result.data;
    addIssues(faults, result.error.issues, value, place, schemas.otherwise);
    return undefined;
  };
  if (schemas.params !== undefined) check(schemas.params, inputs.params, 'path.');
  const given = readQuery(inputs.query, faults);
  const query = check(schemas.query ?? NOTHING, given, 'query.');
  findBadCharacters(given, ['query'], faults);
  const bodySchema = schemas.body ?? NOTHING;
  const sent = fewMembers(bodySchema, inputs.body ?? {});
  findBadCharacters(unframed(sent.body, schemas.framed), [], faults);
  const parsed =
    schemas.body === undefined || inputs.raw === undefined ? check(bodySchema, sent.body, '') : undefined;
  const body = schemas.body === undefined ? undefined : parsed;
  faults.count(sent.others);
  if (!faults.none) throw new Refusal('invalid', faults.list());
  // After validation, the inputs have the schemas' types.
  return {
    params: inputs.params as Params,
    query: query as z.output<Query>,
    body: body as z.output<Body>,
    ...(inputs.exact === undefined ? {} : { exact: inputs.exact }),
    ...(inputs.raw === undefined ? {} : { raw: inputs.raw }),
  };
}

/** Returns a body without the members whose text is allowed to contain control characters. */
function unframed(body: unknown, framed: readonly string[] = []): unknown {
  if (framed.length === 0 || typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !framed.includes(name)));
}

/** The parameter that names the point in time to read. */
const AS_OF = 'as_of';

/** Returns parameters by name. An empty parameter is treated as absent; a repeated one is refused. */
function readQuery(query: URLSearchParams, faults: Faults): Record<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of query) {
    // An empty `as_of` doesn't mean now.
    if (value === '' && name !== AS_OF) continue;
    if (values.has(name))
      faults.add({
        code: 'value',
        diagnostics: `query.${cut(name, 60)} occurs more than once`,
        expression: `query.${cut(name, 60)}`,
      });
    values.set(name, value);
  }
  return Object.fromEntries(values);
}

/** Maximum number of members in a body that are checked one by one. */
const MOST = 10_000;
/** Maximum number of values that are searched for invalid characters. */
const MOST_LOOKED_AT = 200_000;

/** Returns a body with its known members and only a few of the unknown ones. Unknown members are faults. */
function fewMembers(schema: z.ZodType, body: unknown): { body: unknown; others: number } {
  const names = typeof body === 'object' && body !== null ? Object.keys(body) : [];
  if (names.length <= MOST || typeof body !== 'object' || body === null) return { body, others: 0 };
  const known = namesIn(schema).filter((name) => Object.hasOwn(body, name));
  const kept = [...new Set([...known, ...names.slice(0, MOST)])];
  return {
    body: Object.fromEntries(kept.map((name) => [name, Reflect.get(body, name)])),
    others: names.length - kept.length,
  };
}

/** Returns the member names of an object schema, or of a union's object schemas. */
function namesIn(schema: z.core.$ZodType): string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(namesIn);
  return schema instanceof z.ZodOptional ? namesIn(schema.unwrap()) : [];
}

/**
 * Finds characters that PostgreSQL or text in a record cannot contain, including half a surrogate pair, which has no UTF-8
 * form.
 * @param path the value's path; it grows while the value's members are checked.
 * @param looked how many values have been checked so far.
 */
function findBadCharacters(value: unknown, path: string[], faults: Faults, looked = { values: 0 }): void {
  if (typeof value === 'string') {
    const what = CONTROL.test(value)
      ? 'a control character'
      : value.isWellFormed()
        ? undefined
        : 'an unpaired surrogate';
    if (what === undefined) return;
    const expression = cut(path.join('.'), 200);
    faults.add({ code: 'value', diagnostics: `${expression} contains ${what}`, expression });
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const key in value) {
    looked.values += 1;
    // No schema allows this many values, so this is a bug.
    if (looked.values > MOST_LOOKED_AT) return;
    path.push(key);
    findBadCharacters(Reflect.get(value, key), path, faults, looked);
    path.pop();
  }
}
