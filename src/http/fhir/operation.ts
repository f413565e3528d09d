/** Handles operations: `$name` at the base, a type or an instance. https://hl7.org/fhir/R4/operations.html */

import type { SubmittedResource } from '#commands/command.ts';
import type { DescribedOperation } from '#src/fhir/capability.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { PRIMITIVE_TESTS } from '#src/fhir/validation/primitives.ts';
import { cut } from '#src/shared/cut.ts';
import type { Issue } from '#src/shared/issue.ts';
import { isNumber, isObject, type Json, type ParsedJson } from '#src/shared/json/json.ts';
import { didYouMean } from '#src/shared/nearest.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Answer } from '../answer/answer.ts';
import type { GrantToken } from '../grant/opening.ts';
import { AS_OF, atItsMoment, refuseMoment } from './as-of.ts';
import type { FhirRequest } from './request.ts';
import { asWarning } from './search-bundle.ts';

/** A complex input: a parameter's `value[x]` (for example a Coding), its resource, or its parts. */
export interface OperationInput {
  readonly name: string;
  readonly value: Json;
}

/**
 * A request for an operation. In a POST, primitive inputs from the Parameters are added to `query`, where inputs from the URL
 * are too.
 */
export interface OperationRequest extends FhirRequest {
  /** The type in the URL; undefined at the base. */
  readonly type: ResourceType | undefined;
  /** An R4 type in the URL that isn't one of the 26 types. */
  readonly otherType?: string;
  /** The id in the URL; undefined for a request at the base or on a type. */
  readonly id: string | undefined;
  readonly inputs: readonly OperationInput[];
  /**
   * Where each input is in the Parameters, by name: `Parameters.parameter[0].valueCode`; undefined if there are no Parameters.
   */
  readonly places?: ReadonlyMap<string, string>;
  /** The body if it isn't a Parameters resource; otherwise the parameter `resource`. */
  readonly resource: SubmittedResource | undefined;
  /** Unknown inputs to report; only for operations that return a searchset. */
  readonly ignored: readonly Issue[];
}

/** Where an operation is called. */
export interface OperationPlace {
  readonly type: ResourceType | undefined;
  readonly id: string | null;
}

/** An operation. Operations never write, so they need the scope `read`. */
export interface Operation extends DescribedOperation {
  readonly methods: readonly ('GET' | 'POST')[];
  /**
   * `refused` if the operation refuses a grant's access token; otherwise a function that returns what it requires at a given
   * place.
   */
  readonly grantToken: 'refused' | ((place: OperationPlace) => GrantToken);
  /** True if the operation also supports R4 types other than the 26. */
  readonly otherTypes?: true;
  /** Names of the operation's inputs; others are refused. */
  readonly parameters: readonly string[];
  /** True if the operation returns a searchset. Unknown inputs are then reported, and refused only with `handling=strict`. */
  readonly searchset?: true;
  /** True if the operation supports reading as of an earlier time (`_asOf`). */
  readonly takesAsOf?: true;
  run(request: OperationRequest): Promise<Answer>;
}

/** Parameters that every request accepts. */
const OF_EVERY_REQUEST = new Set(['_format', '_pretty']);

/** An operation at a place. */
export interface PlacedOperation {
  readonly methods: Operation['methods'];
  readonly grantToken: GrantToken;
  /**
   * @param body undefined if there isn't one
   * @throws Refusal
   */
  readonly run: (request: FhirRequest, body: ParsedJson | undefined) => Promise<Answer>;
}

/**
 * Returns the operation `$name` at a place.
 * @throws Refusal not_found (404, `not-supported`) if the operation doesn't exist there
 */
export function operationAt(
  table: readonly Operation[],
  segment: string,
  type?: ResourceType,
  id?: string,
  otherType?: string,
): PlacedOperation {
  const operation = table.find((each) => `$${each.name}` === segment && isThere(each, type, id, otherType));
  if (operation === undefined) {
    const names = table.filter((each) => isThere(each, type, id, otherType)).map(({ name }) => `$${name}`);
    throw new Refusal('not_found', {
      code: 'not-supported',
      diagnostics: `operation ${cut(segment, 64)} is not supported${didYouMean(segment, names)}`,
    });
  }
  const elsewhere = otherType === undefined ? {} : { otherType };
  const asked = async (request: FhirRequest, body: ParsedJson | undefined): Promise<Answer> => {
    const inputs = readInputs(request, body);
    try {
      const asked = { ...request, ...inputs, ignored: [], type, id, ...elsewhere };
      if (operation.takesAsOf !== true) refuseMoment(inputs.query);
      return await operation.run(await atItsMoment(understood(operation, asked)));
    } catch (error) {
      throw error instanceof Refusal ? placed(error, inputs.places) : error;
    }
  };
  const grantToken =
    operation.grantToken === 'refused' ? 'refused' : operation.grantToken({ type, id: id ?? null });
  return { methods: operation.methods, grantToken, run: asked };
}

/** Adds to a refusal the places in the Parameters of the inputs that it names. */
function placed(refusal: Refusal, places: OperationRequest['places']): Refusal {
  if (places === undefined) return refusal;
  const issues = refusal.issues.map((issue) => {
    const [, whole = issue.expression === 'resource' ? 'resource' : undefined] =
      /^query\.(.+)$/s.exec(issue.expression ?? '') ?? [];
    if (whole === undefined) return issue;
    const [, name = '', rest = ''] = /^([^.]*)(.*)$/s.exec(whole) ?? [];
    const place = places.get(whole) ?? places.get(name);
    return { ...issue, expression: place === undefined ? 'Parameters.parameter' : place + rest };
  });
  return new Refusal(refusal.kind, issues, refusal.headers);
}

function isThere(
  { system, types, instances, otherTypes }: Operation,
  type?: ResourceType,
  id?: string,
  otherType?: string,
): boolean {
  if (otherType !== undefined) return otherTypes === true && id === undefined;
  if (type === undefined) return system === true;
  return (id === undefined ? types : instances)?.includes(type) === true;
}

/**
 * Reports inputs that the operation doesn't accept. Only a searchset has an entry in which ignored inputs can be reported.
 * @throws Refusal malformed (400) for such inputs in other operations, and with `handling=strict`
 */
function understood(operation: Operation, request: OperationRequest): OperationRequest {
  const names = new Set([...request.query.keys(), ...request.inputs.map(({ name }) => name)]);
  const unknown = [...names].filter(
    (name) =>
      !operation.parameters.includes(name) &&
      !OF_EVERY_REQUEST.has(name) &&
      !(name === AS_OF && operation.takesAsOf === true),
  );
  if (unknown.length === 0) return request;
  const issues = (more = ''): Issue[] =>
    unknown.map((name) => ({
      code: 'not-supported',
      diagnostics: `unknown parameter ${cut(name, 100)} of operation $${operation.name}${more}${didYouMean(name, operation.parameters)}`,
      expression: `query.${cut(name, 100)}`,
    }));
  if (operation.searchset === true && request.prefer.handling !== 'strict')
    return { ...request, ignored: issues(': it was ignored').map(asWarning) };
  throw new Refusal('malformed', issues());
}

/**
 * Returns the inputs in a body.
 * @throws Refusal malformed (400) if the body isn't a resource or contains invalid Parameters
 */
function readInputs(
  { query }: FhirRequest,
  body: ParsedJson | undefined,
): Pick<OperationRequest, 'query' | 'inputs' | 'resource' | 'places'> {
  if (body === undefined) return { query, inputs: [], resource: undefined };
  const { value, exact } = body;
  if (!isObject(value) || typeof value.resourceType !== 'string') {
    throw malformed('the body must be a resource: Parameters, or the resource that the operation is for');
  }
  if (value.resourceType !== 'Parameters') return { query, inputs: [], resource: { value, exact } };
  const { parameter = [] } = value;
  if (!Array.isArray(parameter)) throw malformed('it must be a list', 'Parameters.parameter');
  const all = new URLSearchParams(query);
  const inputs: OperationInput[] = [];
  const places = new Map<string, string>();
  for (const [at, each] of parameter.entries()) {
    const { key, name, value } = readInput(each, `Parameters.parameter[${at}]`);
    const place = `Parameters.parameter[${at}].${key}`;
    if (!places.has(name)) places.set(name, place);
    if (isObject(value) || Array.isArray(value)) inputs.push({ name, value });
    else {
      const fault = PRIMITIVE_TESTS[valueType(key)]?.(value);
      if (fault !== undefined) throw malformed(`${cut(name, 100)} ${fault}`, place);
      all.append(name, String(value));
    }
  }
  const resource = inputs.find(({ name }) => name === 'resource')?.value;
  return {
    query: all,
    inputs,
    places,
    resource: isObject(resource) ? { value: resource, exact } : undefined,
  };
}

const CONTENT = /^(?:value[A-Z]\w*|resource|part)$/;

/** Returns the primitive type in a key: `boolean` for `valueBoolean`. */
function valueType(key: string): string {
  return key.charAt('value'.length).toLowerCase() + key.slice('value'.length + 1);
}

function readInput(parameter: Json, expression: string): OperationInput & { readonly key: string } {
  if (!isObject(parameter)) throw malformed('it must be an object', expression);
  const { name } = parameter;
  if (typeof name !== 'string' || name === '')
    throw malformed('it must have a name, a string', `${expression}.name`);
  const content = Object.keys(parameter).filter((key) => CONTENT.test(key));
  const [key] = content;
  const value = key === undefined ? undefined : parameter[key];
  if (content.length !== 1 || key === undefined || value === undefined || !isContent(value))
    throw malformed('it must have one of value[x], resource and part', expression);
  return { name, value, key };
}

function isContent(value: Json): boolean {
  if (typeof value === 'object' && value !== null && !isNumber(value)) return true;
  return isNumber(value) || typeof value === 'boolean' || (typeof value === 'string' && value !== '');
}

function malformed(diagnostics: string, expression?: string): Refusal {
  return new Refusal('malformed', {
    code: 'structure',
    diagnostics: expression === undefined ? diagnostics : `${expression}: ${diagnostics}`,
    ...(expression === undefined ? {} : { expression }),
  });
}
