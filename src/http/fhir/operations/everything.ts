/** `Patient/<id>/$everything`: https://hl7.org/fhir/R4/patient-operation-everything.html */
import { setImmediate } from 'node:timers/promises';
import { EVERYTHING_PARAMETERS, parseEverything } from '#queries/everything/asked.ts';
import type { EverythingEntry } from '#queries/everything/everything.ts';
import { badParameter } from '#queries/search/raw.ts';
import type { Subset } from '#src/fhir/summary.ts';
import { TYPE_NAMES } from '#src/fhir/types.ts';
import { type Answer, FHIR_JSON } from '../../answer.ts';
import { requireFresh } from '../../freshness.ts';
import { bundleFrame, joined, pageLinks } from '../bundle-text.ts';
import type { Operation, OperationRequest } from '../operation.ts';
import { outcomeEntry } from '../search-bundle.ts';
import { cut, parseShape } from '../subset.ts';
import { requirePatient } from './patient.ts';

/** The operation's entry in the table. */
export const everything: Operation = {
  name: 'everything',
  definition: 'http://hl7.org/fhir/OperationDefinition/Patient-everything',
  instances: ['Patient'],
  methods: ['GET', 'POST'],
  parameters: EVERYTHING_PARAMETERS,
  searchset: true,
  run,
};

/** 200 with a page of the record. @throws Refusal 400 404 410 503 */
async function run(request: OperationRequest): Promise<Answer> {
  const { service, caller, query, id = '', ignored } = request;
  const asked = parseEverything(query);
  const { subset, onlyTotal } = parseShape(query, asked.types === undefined ? TYPE_NAMES : [...asked.types]);
  if (onlyTotal) throw badParameter('_summary', 'count is for searches and histories');
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
  const told = ignored.length === 0 ? [] : [`${entries.length > 0 ? ',' : ''}${outcomeEntry(ignored)}`];
  const [before, after] = bundleFrame('searchset', entries.length + told.length, { ...total, links });
  const shown: (string | Buffer)[] = [];
  for (const [n, entry] of entries.entries()) {
    // Parts of many resources take their time: others get a turn.
    if (subset !== undefined && n % TURN === TURN - 1) await setImmediate();
    shown.push(...pieces(service.base, entry, n, subset));
  }
  const body = joined([before, ...shown, ...told, after]);
  return { status: 200, headers: { 'Content-Type': FHIR_JSON }, body };
}

/** Resources that are cut at a time. */
const TURN = 200;

/** An entry's JSON, in pieces: bodies are not copied before the whole page is. */
function pieces(
  base: string,
  { type, id, body, mode }: EverythingEntry,
  n: number,
  subset: Subset | undefined,
): (string | Buffer)[] {
  // `_elements` are those of the matches alone.
  const part = mode === 'match' || typeof subset === 'string' ? subset : undefined;
  const start = `${n > 0 ? ',' : ''}{"fullUrl":"${base}${type}/${id}","resource":`;
  return [start, cut({ type, body }, part), `,"search":{"mode":"${mode}"}}`];
}
