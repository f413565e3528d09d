/** Handles `Type/$validate` and `Type/<id>/$validate`: https://hl7.org/fhir/R4/resource-operation-validate.html */

import type { CommandContext, SubmittedResource } from '#commands/command.ts';
import { operationOutcome } from '#src/fhir/outcome.ts';
import { validationSteps } from '#src/fhir/profiles/validate.ts';
import { TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
import { requireLetters } from '#src/shared/access/outside-grant.ts';
import { withArticle } from '#src/shared/article.ts';
import { cut } from '#src/shared/cut.ts';
import { IdSource, newUuid } from '#src/shared/ids.ts';
import type { Issue } from '#src/shared/issue.ts';
import { isObject, parseJson } from '#src/shared/json/json.ts';
import { inSlices } from '#src/shared/load/slices.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import { type Answer, FHIR_JSON } from '../../answer/answer.ts';
import { parseAuthorship } from '../../answer/authorship.ts';
import type { Operation, OperationRequest } from '../operation.ts';
import { read } from '../read.ts';
import { warningIssues } from '../written.ts';

/** The operation's entry in the table. */
export const validate: Operation = {
  name: 'validate',
  definition: 'http://hl7.org/fhir/OperationDefinition/Resource-validate',
  types: TYPE_NAMES,
  instances: TYPE_NAMES,
  otherTypes: true,
  methods: ['GET', 'POST'],
  // Without an id, nothing is read, because the response is only about the resource in the request.
  grantToken: ({ type, id }) => ({
    action: '$validate',
    needs: type === undefined || id === null ? [] : [{ type, letters: 'r' }],
    type: type ?? null,
    id,
  }),
  parameters: ['resource', 'mode', 'profile'],
  run,
};

/** https://hl7.org/fhir/R4/valueset-resource-validation-mode.html */
const MODES = ['create', 'update', 'delete', 'profile'] as const;
type Mode = (typeof MODES)[number];

/** The method of the write that a mode simulates, and the letter that the write needs (docs/spec/decisions.md, section 9). */
const METHOD = { create: 'POST', update: 'PUT', delete: 'DELETE' } as const;
const LETTER = { create: 'c', update: 'u', delete: 'd' } as const;

/**
 * Returns 200 with all issues. The resource is valid if no issue has the severity `error`.
 * @throws Refusal malformed (400) for an unknown mode, or without a resource; 403 404 410 for an id
 */
async function run(request: OperationRequest): Promise<Answer> {
  const mode = readMode(request);
  const profiles = request.query.getAll('profile').filter((profile) => profile !== '');
  requireLetter(request, mode);
  const issues: Issue[] = [];
  if (mode === 'delete') issues.push(...(await refusedWrite(request, 'delete', undefined)));
  else {
    const resource = await findResource(request, mode);
    for (const issue of ofOtherType(request, resource)) issues.push(issue);
    const found = await inSlices(validationSteps(resource.value, profiles));
    for (const issue of found) issues.push(issue);
    issues.push(...warningIssues(request.service, resource.value, nowMicros()));
    if (mode === 'create' || mode === 'update') issues.push(...(await refusedWrite(request, mode, resource)));
  }
  const body = operationOutcome(once(issues));
  return { status: 200, headers: { 'Content-Type': FHIR_JSON }, body, shown: 0 };
}

/**
 * Refuses to simulate a write that a grant doesn't cover.
 * @throws Refusal forbidden (403)
 */
function requireLetter({ caller, type }: OperationRequest, mode: Mode | undefined): void {
  if (mode === undefined || mode === 'profile' || type === undefined) return;
  const { within } = caller.sees;
  if (typeEntry(type).home !== 'terminology') requireLetters(within, type, LETTER[mode]);
}

function readMode({ query, id }: OperationRequest): Mode | undefined {
  const given = query.get('mode') ?? '';
  if (given === '') return undefined;
  const mode = MODES.find((known) => known === given);
  if (mode === undefined) throw malformed(`mode must be one of ${MODES.join(', ')}`, 'query.mode');
  if (mode !== 'create' && id === undefined)
    throw malformed(`mode ${mode} requires a stored resource: call Type/<id>/$validate`, 'query.mode');
  return mode;
}

/**
 * Returns the resource in the request. With mode `profile`, or if the request has an id but no resource, returns the stored
 * resource.
 */
async function findResource(request: OperationRequest, mode: Mode | undefined): Promise<SubmittedResource> {
  const { resource, type, id } = request;
  if (mode === 'profile' && resource !== undefined)
    throw malformed("mode profile validates the stored resource; don't send one", 'resource');
  if (resource !== undefined) return resource;
  if (type === undefined || id === undefined || mode === 'create' || mode === 'update')
    throw malformed('a resource is required, as the body or as the parameter resource', 'resource');
  const { body } = await read({ ...request, header: () => undefined }, type, id);
  const { value, exact } = parseJson(String(body));
  if (!isObject(value)) throw new TypeError('a stored body is not an object');
  return { value, exact };
}

/** Returns an issue if the resource's type or id differs from the URL's. */
function ofOtherType({ type, otherType, id }: OperationRequest, { value }: SubmittedResource): Issue[] {
  const named = type ?? otherType ?? '';
  if (value.resourceType !== named) {
    const shown = cut(String(value.resourceType), 64);
    const diagnostics = `the resource is ${withArticle(shown)}, but the URL names ${named}`;
    return [{ code: 'value', diagnostics, expression: `${named}.resourceType` }];
  }
  if (id === undefined || value.id === undefined || value.id === id) return [];
  return [
    { code: 'value', diagnostics: `${named}.id differs from the id in the URL`, expression: `${named}.id` },
  ];
}

/** Returns the issues for which the write would be refused. */
async function refusedWrite(
  request: OperationRequest,
  mode: 'create' | 'update' | 'delete',
  resource: SubmittedResource | undefined,
): Promise<Issue[]> {
  const { type, id, otherType, service } = request;
  if (type === undefined) return [readOnly(otherType ?? '')];
  if (typeEntry(type).home === 'terminology') return [readOnly(type)];
  if (mode === 'delete' && (await service.queries.read(request.caller, type, id ?? '')) === undefined)
    throw notFound(type, id ?? '');
  if (resource !== undefined && resource.value.resourceType !== type) return [];
  const target = mode === 'create' ? undefined : id;
  const refusal = await service.commands.rehearse(makeContext(request), METHOD[mode], type, target, resource);
  return [...(refusal?.issues ?? [])];
}

function makeContext({ caller, header }: OperationRequest): CommandContext {
  return {
    caller,
    authorship: parseAuthorship(header, caller),
    requestId: '',
    ids: new IdSource(newUuid(), Date.now()),
    now: nowMicros,
  };
}

function readOnly(type: string): Issue {
  return { code: 'not-supported', diagnostics: `${type} is read-only on this service`, expression: type };
}

/** Removes duplicate issues, because a write checks against base R4 again and finds the same faults. */
function once(issues: readonly Issue[]): Issue[] {
  const seen = new Set<string>();
  return issues.filter(({ code, diagnostics, expression }) => {
    const key = JSON.stringify([code, diagnostics, expression]);
    return !seen.has(key) && seen.add(key);
  });
}

function malformed(diagnostics: string, expression: string): Refusal {
  return new Refusal('malformed', { code: 'invalid', diagnostics, expression });
}
