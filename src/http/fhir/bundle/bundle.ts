/**
 * Handles transaction and batch: https://hl7.org/fhir/R4/http.html#transaction. Commands carry out the writes. After them, GET
 * entries are answered by the same interactions as separate requests.
 */
import { STATUS_CODES } from 'node:http';
import type { WriteResult } from '#commands/command.ts';
import {
  entryPath,
  type ParsedBundle,
  parseBundle,
  type ReadEntry,
  type WriteEntry,
} from '#src/fhir/bundle.ts';
import { operationOutcome } from '#src/fhir/outcome.ts';
import { type Caller, mayRead } from '#src/shared/access/caller.ts';
import type { Issue } from '#src/shared/issue.ts';
import { isObject } from '#src/shared/json/json.ts';
import { inSlices, mapSteps } from '#src/shared/load/slices.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { type Answer, FHIR_JSON } from '../../answer/answer.ts';
import { lacksScope, requireScope } from '../../credentials.ts';
import { internalError } from '../../errors.ts';
import { etag } from '../read.ts';
import type { FhirWrite, FindInteraction } from '../request.ts';
import { parseLongBody } from '../resource-body.ts';
import { mayShow, noteRead, printOutcome, warnOfWritten, writeStatus, writtenLocation } from '../written.ts';
import { countPatches, inwardPatches } from './bundle-patches.ts';
import { readEntries } from './bundle-reads.ts';
import { bundleText } from './bundle-text.ts';

/**
 * Returns 200 with one response entry per entry, in order.
 * @throws Refusal naming `Bundle.entry[i]`; throttled (429), before anything is done, if there are more GET entries than the
 *   rate limit still allows
 */
export async function processBundle(request: FhirWrite, find: FindInteraction): Promise<Answer> {
  const { service, caller } = request;
  const { value, exact } = await parseLongBody(request.body);
  if (!isObject(value)) {
    throw new Refusal('malformed', { code: 'structure', diagnostics: 'the body must be a JSON object' });
  }
  const sent = permitted(caller, parseBundle(value, [service.base], service.bundleEntries));
  await inSlices(countPatches(sent.writes, service.bundleValues));
  const bundle =
    request.pass === undefined
      ? sent
      : { ...sent, writes: await inSlices(inwardPatches(request.pass.edge, sent.writes)) };
  // The request itself counts for the writes or, if there are none, for the first read.
  await request.spend(bundle.writes.length > 0 ? bundle.reads.length : Math.max(0, bundle.reads.length - 1));
  if (bundle.type === 'transaction') {
    refuseFaulty(bundle);
    await refuseFailingReads(request, bundle, find);
  }
  const results = await write(request, bundle, exact);
  const entries = new Map<number, string | Buffer>();
  const methods = new Map(bundle.writes.map(({ index, method }) => [index, method]));
  let transient = false;
  let refused = 0;
  const fail = (index: number, error: unknown) => {
    const refusal = request.service.refusalOf(error) ?? internalError();
    if (refusal.kind === 'internal')
      service.log.error({ err: error, request_id: request.command.requestId }, 'batch entry');
    transient ||= refusal.status >= 500;
    if (refusal.status < 500) refused += 1;
    entries.set(index, failed(refusal));
  };
  for (const [index, result] of results) {
    if (result instanceof Error) fail(index, result);
    else entries.set(index, written(request, methods.get(index) ?? 'PATCH', result));
  }
  for (const { index, refusal } of bundle.faulty) fail(index, refusal);
  for (const { index } of bundle.writes) if (!entries.has(index)) entries.set(index, DELETED);
  await readEntries(request, bundle.reads, request.budget, {
    find,
    // Long text is kept outside the heap.
    onText: ({ index }, text) => entries.set(index, text.length > LONG ? Buffer.from(text) : text),
    onError: ({ index }, error) => fail(index, error),
  });
  const inOrder = Array.from(
    { length: bundle.size },
    (_, index) => entries.get(index) ?? failed(internalError()),
  );
  return {
    status: 200,
    headers: { 'Content-Type': FHIR_JSON },
    body: bundleText(`${bundle.type}-response`, inOrder),
    ...(refused === 0 ? {} : { refused: refused / bundle.size }),
    ...(transient ? { transient } : {}),
    ...(bundle.reads.length > 0 ? { reads: true } : {}),
  };
}

/**
 * Returns the Bundle without the batch entries that the caller's scopes don't allow. Only these entries fail (403).
 * @throws Refusal forbidden (403) for a transaction with such entries
 */
function permitted(caller: Caller, bundle: ParsedBundle): ParsedBundle {
  const { type, reads, writes, faulty } = bundle;
  if (type === 'transaction') {
    if (writes.length > 0) requireScope(caller, 'write');
    if (reads.length > 0) requireScope(caller, 'read');
    return bundle;
  }
  const [writing, reading] = (['write', 'read'] as const).map((scope) => caller.calls.scopes.includes(scope));
  const denied = [
    ...(writing ? [] : writes.map(({ index }) => ({ index, refusal: lacksScope(caller, 'write') }))),
    ...(reading ? [] : reads.map(({ index }) => ({ index, refusal: lacksScope(caller, 'read') }))),
  ];
  return {
    ...bundle,
    writes: writing ? writes : [],
    reads: reading ? reads : [],
    faulty: [...faulty, ...denied],
  };
}

/** The length, in characters, from which an entry is treated as long. */
const LONG = 16_000;

/** Refuses a transaction with invalid entries and names all of them. */
function refuseFaulty({ faulty }: ParsedBundle): void {
  const [first] = faulty;
  if (first === undefined) return;
  const issues = faulty.flatMap(({ index, refusal }) =>
    refusal.issues.map((issue) => ({ ...issue, expression: issue.expression ?? entryPath(index) })),
  );
  throw new Refusal(first.refusal.kind, issues);
}

/**
 * Tries a transaction's GET entries before anything is written, because a transaction is all or nothing. A missing resource is
 * accepted only if the transaction restores it; a resource that the transaction deletes counts as missing.
 */
async function refuseFailingReads(
  request: FhirWrite,
  { reads, writes }: ParsedBundle,
  find: FindInteraction,
): Promise<void> {
  const refusals: { readonly index: number; readonly refusal: Refusal }[] = [];
  const written = (entry: ReadEntry, method: 'PUT' | 'DELETE'): boolean =>
    writes.some(
      (one) => one.method === method && one.id !== undefined && entry.url === `${one.type}/${one.id}`,
    );
  const trial = request.budget.part({
    bytes: request.budget.bytesLeft,
    resources: request.budget.resourcesLeft,
  });
  const { pass } = request;
  const trying = pass === undefined ? request : { ...request, pass: pass.rehearsal() };
  await readEntries(trying, reads, trial, {
    find,
    onText: (entry) => {
      if (!written(entry, 'DELETE')) return;
      const diagnostics = `${entry.url} is deleted by this transaction`;
      refusals.push({ index: entry.index, refusal: new Refusal('gone', { code: 'deleted', diagnostics }) });
    },
    onError: (entry, error) => {
      const refusal = request.service.refusalOf(error) ?? internalError();
      if (refusal.kind === 'gone' && written(entry, 'PUT')) return;
      refusals.push({ index: entry.index, refusal });
    },
  });
  trial.giveBack();
  refusals.sort((a, b) => a.index - b.index);
  const [first] = refusals;
  if (first === undefined) return;
  const issues = refusals.flatMap(({ index, refusal }) =>
    refusal.issues.map(({ code, diagnostics }) => ({
      code,
      diagnostics: `${entryPath(index)}: ${diagnostics}`,
      expression: entryPath(index),
    })),
  );
  throw new Refusal(first.refusal.kind, issues, first.refusal.headers);
}

async function write(
  request: FhirWrite,
  { type, writes }: ParsedBundle,
  exact: boolean,
): Promise<ReadonlyMap<number, WriteResult | Error>> {
  if (writes.length === 0) return new Map();
  const { service, command } = request;
  const keep = (result: WriteResult): WriteResult => withinBudget(request, result);
  const { result, position } =
    type === 'transaction'
      ? await service.commands.transaction(command, writes, exact)
      : await service.commands.batch(command, writes, exact, keep);
  if (position !== undefined) await service.freshness.settle(position);
  if (type === 'batch') return result;
  const kept = ([index, one]: readonly [number, WriteResult | Error]): [number, WriteResult | Error] => [
    index,
    one instanceof Error ? one : keep(one),
  ];
  return new Map(await inSlices(mapSteps([...result], kept)));
}

/** The response entry for a DELETE, if it must not reveal a version. */
const DELETED = '{"response":{"status":"204 No Content"}}';

/** Warnings for results whose bodies aren't kept. */
const warned = new WeakMap<WriteResult, readonly Issue[]>();

/** Body of a hidden result; a result without a body is a deletion. */
const NOT_SHOWN = '';

/** Keeps a result's body only if it will be shown and fits in the budget. */
function withinBudget({ prefer, budget, service }: FhirWrite, result: WriteResult): WriteResult {
  const { body } = result;
  if (body === undefined) return result;
  if (prefer.return !== 'representation') {
    const kept = { ...result, body: NOT_SHOWN };
    if (prefer.return === 'OperationOutcome') warned.set(kept, warnOfWritten(service, result));
    return kept;
  }
  try {
    budget.take(Buffer.byteLength(body));
    return result;
  } catch {
    // The write has already been made; only showing its result can be refused.
    return { ...result, body: NOT_SHOWN };
  }
}

/** The outcome shown for a resource that didn't fit in the response. */
const NO_ROOM = operationOutcome([
  {
    severity: 'warning',
    code: 'too-costly',
    diagnostics:
      'the resource was written, but the answer is too large to include it; read it at its location',
  },
]);

const statusLine = (status: number): string => `${status} ${STATUS_CODES[status] ?? ''}`.trim();

/** Returns a write's response entry. It contains the resource or an outcome only if `Prefer` requests this. */
function written(request: FhirWrite, method: WriteEntry['method'], result: WriteResult): string {
  const { prefer, service, caller } = request;
  const { outcome, version, lastUpdated, type, id, body } = result;
  const deletes = body === undefined && (outcome === 'deleted' || outcome === 'unchanged');
  if (deletes && !mayRead(caller, type)) return DELETED;
  const response = {
    status: statusLine(deletes ? 204 : writeStatus(result)),
    ...(deletes ? {} : { location: writtenLocation(result) }),
    etag: etag(version),
    lastModified: lastUpdated,
  };
  const represents =
    prefer.return === 'representation' && body !== undefined && mayShow(caller, method, result);
  noteRead(request, method, result, represents && body !== NOT_SHOWN);
  const shown =
    represents && body !== NOT_SHOWN ? `"fullUrl":"${service.base}${type}/${id}","resource":${body},` : '';
  const told =
    prefer.return === 'OperationOutcome'
      ? `,"outcome":${printOutcome(caller, method, result, warned.get(result) ?? [])}`
      : represents && body === NOT_SHOWN
        ? `,"outcome":${NO_ROOM}`
        : '';
  return `{${shown}"response":${JSON.stringify(response).slice(0, -1)}${told}}}`;
}

function failed(refusal: Refusal): string {
  const status = JSON.stringify(statusLine(refusal.status));
  return `{"response":{"status":${status},"outcome":${operationOutcome(refusal.issues)}}}`;
}
