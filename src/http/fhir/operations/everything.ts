/** `Patient/<id>/$everything`: https://hl7.org/fhir/R4/patient-operation-everything.html */
import { EVERYTHING_PARAMETERS, parseEverything } from '#queries/everything/asked.ts';
import type { EverythingEntry } from '#queries/everything/everything.ts';
import { type Answer, FHIR_JSON } from '../../answer.ts';
import { requireFresh } from '../../freshness.ts';
import { bundleFrame, joined, pageLinks } from '../bundle-text.ts';
import type { Operation, OperationRequest } from '../operation.ts';
import { requirePatient } from './patient.ts';

/** The operation's entry in the table. */
export const everything: Operation = {
  name: 'everything',
  definition: 'http://hl7.org/fhir/OperationDefinition/Patient-everything',
  instances: ['Patient'],
  methods: ['GET', 'POST'],
  parameters: EVERYTHING_PARAMETERS,
  run,
};

/** 200 with a page of the record. @throws Refusal 400 404 410 503 */
async function run(request: OperationRequest): Promise<Answer> {
  const { service, caller, query, id = '' } = request;
  const asked = parseEverything(query);
  requireFresh(service.stale, ['resources']);
  await requirePatient(request, id);
  if (asked.types?.has('Provenance') === true) requireFresh(service.stale, ['history']);
  if (asked.care !== undefined) {
    requireFresh(service.stale, ['search']);
    await service.searchable();
  }
  const { entries, next } = await service.queries.everything(caller, id, asked, service.base);
  const links = pageLinks(`${service.base}Patient/${id}/$everything`, asked.used, next);
  const isWhole = next === undefined && asked.cursor === undefined;
  const total = isWhole ? { total: entries.filter(({ mode }) => mode === 'match').length } : {};
  const [before, after] = bundleFrame('searchset', entries.length, { ...total, links });
  const body = joined([before, ...entries.flatMap((entry, n) => pieces(service.base, entry, n)), after]);
  return { status: 200, headers: { 'Content-Type': FHIR_JSON }, body };
}

/** An entry's JSON, in pieces: bodies are not copied before the whole page is. */
function pieces(base: string, { type, id, body, mode }: EverythingEntry, n: number): (string | Buffer)[] {
  const start = `${n > 0 ? ',' : ''}{"fullUrl":"${base}${type}/${id}","resource":`;
  return [start, body, `,"search":{"mode":"${mode}"}}`];
}
