/** Inputs of a request against their schemas: every one that fails is named (decisions.md, section 2). */
import { z } from 'zod';
import { type Issue, Refusal } from '#src/shared/refusal.ts';
import { issueOf, sentence } from './issues.ts';

/** Inputs as they came. */
export interface Inputs {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Plain JSON; undefined when there was no body. */
  readonly body: unknown;
}

/** The schemas that a route has for them. */
interface Schemas<Query extends z.ZodObject, Body extends z.ZodType> {
  readonly params?: z.ZodObject;
  readonly query?: Query;
  readonly body?: Body;
}

const NOTHING = z.strictObject({});
/** JSON can hold them, texts of a record cannot (decisions.md, section 2). */
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/;

/**
 * Parses all inputs.
 * @throws Refusal invalid (422) with an issue for each fault: `path.<name>`, `query.<name>`, or the dotted path into the body.
 */
export function parseInputs<Params, Query extends z.ZodObject, Body extends z.ZodType>(
  schemas: Schemas<Query, Body>,
  inputs: Inputs,
): { params: Params; query: z.output<Query>; body: z.output<Body> } {
  const faults: Issue[] = [];
  const check = (schema: z.ZodType, value: unknown, place: string): unknown => {
    const result = schema.safeParse(value, { error: sentence });
    if (result.success) return result.data;
    for (const issue of result.error.issues) faults.push(...issueOf(issue, value, place));
    return undefined;
  };
  if (schemas.params !== undefined) check(schemas.params, inputs.params, 'path.');
  const query = check(schemas.query ?? NOTHING, queryOf(inputs.query, faults), 'query.');
  faults.push(...controlCharacters(inputs.body));
  const body =
    schemas.body === undefined
      ? void check(NOTHING, inputs.body ?? {}, '')
      : check(schemas.body, inputs.body ?? {}, '');
  if (faults.length > 0) throw new Refusal('invalid', faults);
  // What passed has the schemas' types.
  return { params: inputs.params as Params, query: query as z.output<Query>, body: body as z.output<Body> };
}

/** Parameters by name. An empty one counts as absent; one that is repeated is refused. */
function queryOf(query: URLSearchParams, faults: Issue[]): Record<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of query) {
    if (value === '') continue;
    if (values.has(name))
      faults.push({
        code: 'value',
        diagnostics: `query.${name.slice(0, 60)} occurs more than once`,
        expression: `query.${name.slice(0, 60)}`,
      });
    values.set(name, value);
  }
  return Object.fromEntries(values);
}

function controlCharacters(value: unknown, path: readonly string[] = []): Issue[] {
  if (typeof value === 'string') {
    if (!CONTROL.test(value)) return [];
    const expression = path.join('.');
    return [{ code: 'value', diagnostics: `${expression} holds a control character`, expression }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => controlCharacters(each, [...path, key]));
}
