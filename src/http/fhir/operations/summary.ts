/** Handles `$summary`: https://hl7.org/fhir/uv/ips/STU2/OperationDefinition-summary.html */
import { badParameter } from '#queries/search/raw.ts';
import { COMPOSITION_PROFILE, derivedId, IPS_VERSION } from '#src/clinical/summary/composition.ts';
import { codesWithoutDisplay } from '#src/clinical/summary/displays.ts';
import { writeInSteps } from '#src/clinical/summary/document.ts';
import { draftSummary } from '#src/clinical/summary/receipt.ts';
import { requireFilled } from '#src/shared/access/caller.ts';
import { grantCoverage } from '#src/shared/access/coverage.ts';
import type { ReceiptDraft } from '#src/shared/access/receipt.ts';
import { newUuid } from '#src/shared/ids.ts';
import { inSlices } from '#src/shared/load/slices.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { type Micros, nowMicros } from '#src/shared/time/time.ts';
import { type Answer, FHIR_JSON } from '../../answer/answer.ts';
import { VERSION } from '../../version.ts';
import { joined } from '../bundle/bundle-text.ts';
import type { Operation, OperationRequest } from '../operation.ts';
import { requirePatient } from './patient.ts';

/** The operation's entry in the table. */
export const summary: Operation = {
  name: 'summary',
  definition: 'http://hl7.org/fhir/uv/ips/OperationDefinition/summary',
  types: ['Patient'],
  instances: ['Patient'],
  methods: ['GET', 'POST'],
  grantToken: ({ id }) => ({ action: '$summary', needs: [], type: 'Patient', id }),
  parameters: ['identifier', 'profile'],
  takesAsOf: true,
  run,
};

/**
 * Returns 200 with the document.
 * @throws Refusal 400 404 410 412 413 503
 */
async function run(request: OperationRequest): Promise<Answer> {
  const { service, caller, query, budget } = request;
  const { asOf } = caller.sees;
  requireProfile(query);
  requireFilled(caller.sees);
  service.freshness.require(['resources', 'history']);
  const id = request.id ?? (await identified(request));
  const { base } = service;
  const access = caller.sees.within?.access;
  const covered = grantCoverage(access);
  let receipt: ReceiptDraft | undefined;
  const body = await service.queries.summarize(caller, id, base, budget, async (found) => {
    const { chosen, directory } = found;
    const displays = await service.terminology.displays(
      await inSlices(codesWithoutDisplay(chosen, directory)),
    );
    // As of a given time, repeating a request returns the same document.
    const own = asOf === undefined ? newUuid() : makeId(request, id, asOf);
    const parts = { id: own, now: asOf ?? nowMicros(), directory, displays };
    receipt = draftSummary(id, { ...found, ...parts, base, access, isPast: asOf !== undefined });
    return joined(await inSlices(writeInSteps(chosen, { ...parts, covered })));
  });
  if (body === undefined) {
    await requirePatient(request, id);
    throw notFound('Patient', id);
  }
  return { status: 200, headers: { 'Content-Type': FHIR_JSON }, body, shown: 1, ...(receipt && { receipt }) };
}

/**
 * Returns the id of a summary as of a given time. For a given project or grant, the content of such a summary is always the
 * same.
 */
function makeId({ service, caller: { calls } }: OperationRequest, patient: string, asOf: Micros): string {
  const reader = calls.credential.kind === 'grant' ? calls.credential.grantId : calls.projectId;
  return derivedId(`${service.base}Patient/${patient}/$summary?_asOf=${asOf}#${reader}/${VERSION}`);
}

/**
 * Checks the profile.
 * @throws Refusal malformed (400) if summaries don't conform to it
 */
function requireProfile(query: URLSearchParams): void {
  for (const profile of query.getAll('profile').filter((value) => value !== '')) {
    if (profile === COMPOSITION_PROFILE || profile === `${COMPOSITION_PROFILE}|${IPS_VERSION}`) continue;
    throw badParameter('profile', `the only supported profile is ${COMPOSITION_PROFILE}|${IPS_VERSION}`);
  }
}

/**
 * Finds the Patient who currently has an identifier. Identifiers are compared exactly, because an identifier that differs only
 * in case may belong to another patient.
 * @throws Refusal malformed (400) without the parameter; not_found (404) without a match; precondition_failed (412) if there
 *   are several
 */
async function identified({ service, caller: { calls, sees }, query }: OperationRequest): Promise<string> {
  const { asOf: _, ...present } = sees;
  const identifier = query.get('identifier');
  if (identifier === null || identifier === '') {
    throw badParameter('identifier', 'it is required if the URL names no Patient');
  }
  service.freshness.require(['search']);
  await service.freshness.catchUp(['search', 'resources']);
  const { matches } = await service.queries.search(
    { calls, sees: present },
    {
      type: 'Patient',
      query: new URLSearchParams({ identifier, _count: '2', _total: 'none' }),
      base: service.base,
      exact: true,
    },
  );
  const [found, second] = matches;
  if (found === undefined) {
    throw new Refusal('not_found', { code: 'not-found', diagnostics: 'no Patient has that identifier' });
  }
  if (second === undefined) return found.id;
  throw new Refusal('precondition_failed', {
    code: 'multiple-matches',
    diagnostics: 'several Patients have that identifier; call the operation at Patient/<id>/$summary',
    expression: 'query.identifier',
  });
}
