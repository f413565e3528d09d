/** Compares a service with the model: histories, reads, Provenance, and the outcome of writes that weren't answered. */
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { contentOf, type Model, type ModelResource, type Operation, type ShownVersion } from './model.ts';
import { markerSearch } from './samples.ts';
import type { Service } from './service.ts';

const OPERATIONS: Readonly<Record<string, Operation>> = { POST: 'CREATE', PUT: 'UPDATE', DELETE: 'DELETE' };

/**
 * Compares a service with the model.
 * @returns every difference as a sentence, including the model's own faults
 */
export async function audit(service: Service, model: Model): Promise<string[]> {
  const faults = [...model.faults];
  const happened = new Map<number, number>();
  const lostWrites = new Map<number, number>();
  const note = (map: Map<number, number>, transaction: number): void => {
    map.set(transaction, (map.get(transaction) ?? 0) + 1);
  };

  await inParallel([...model.resources.values()], 8, async (resource) => {
    for (const { transaction, operation } of resource.unknown) {
      if (transaction !== undefined && operation !== 'DELETE') note(lostWrites, transaction);
    }
    const history = await historyOf(service, resource);
    const compared = model.compare(resource, history);
    faults.push(...compared.faults);
    for (const transaction of compared.happened) note(happened, transaction);
    faults.push(...(await readFaults(service, resource, history)));
    faults.push(...(await provenanceFaults(service, resource, history)));
  });

  await inParallel(model.lostCreates, 8, async (lost) => {
    if (lost.transaction !== undefined) note(lostWrites, lost.transaction);
    const found = await resourcesIn(service, markerSearch(lost.type, lost.marker));
    const [first] = found;
    if (found.length > 1) faults.push(`a lost create of ${lost.type} happened ${found.length} times`);
    if (first === undefined) return;
    if (lost.transaction === undefined && contentOf(first) !== lost.content) {
      faults.push(`a lost create of ${lost.type} left ${contentOf(first)}`);
    }
    if (lost.transaction !== undefined) note(happened, lost.transaction);
  });

  for (const [transaction, writes] of lostWrites) {
    const count = happened.get(transaction) ?? 0;
    if (count !== 0 && count !== writes) {
      faults.push(`of a lost transaction ${count} of ${writes} writes happened`);
    }
  }
  for (const patient of model.refusedRecords) {
    const shown = await historyOf(service, { type: 'Patient', id: patient });
    if (!shown.some(({ operation }) => operation === 'DELETE')) {
      faults.push(`writes to Patient/${patient} got 409 although the Patient was never deleted`);
    }
  }
  return faults;
}

/** Returns all versions, oldest first, from as many pages as needed. */
export async function historyOf(
  service: Service,
  { type, id }: Pick<ModelResource, 'type' | 'id'>,
): Promise<ShownVersion[]> {
  const shown: ShownVersion[] = [];
  for await (const entry of entries(service, `/${type}/${id}/_history?_count=50`)) {
    const { request, response, resource } = entry;
    const version = /^W\/"(\d+)"$/.exec(String(isObject(response) ? response.etag : ''))?.[1];
    const operation = OPERATIONS[String(isObject(request) ? request.method : '')];
    if (operation === undefined) throw new Error(`${type}/${id}: a history entry without a method`);
    shown.push({ version: Number(version), operation, ...(isObject(resource) && { body: resource }) });
  }
  return shown.reverse();
}

/**
 * Returns what is wrong with the reads. A read must show the last version or return 410, and every vread must match the
 * history.
 */
async function readFaults(
  service: Service,
  { type, id }: ModelResource,
  history: readonly ShownVersion[],
): Promise<string[]> {
  const faults: string[] = [];
  const last = history.at(-1);
  const read = await service.fhir(`/${type}/${id}`);
  const expected = last?.operation === 'DELETE' ? 410 : 200;
  if (read.status !== expected)
    faults.push(`${type}/${id}: read got ${read.status}, history says ${expected}`);
  else if (
    read.status === 200 &&
    (read.version !== last?.version || contentOf(read.json) !== contentOf(last?.body ?? {}))
  ) {
    faults.push(`${type}/${id}: read shows another version than the history's last, ${last?.version}`);
  }
  for (const { version, operation, body } of history) {
    const vread = await service.fhir(`/${type}/${id}/_history/${version}`);
    const right =
      operation === 'DELETE'
        ? vread.status === 410
        : vread.status === 200 && contentOf(vread.json) === contentOf(body ?? {});
    if (!right)
      faults.push(`${type}/${id}: vread of version ${version} got ${vread.status}, the history differs`);
  }
  return faults;
}

/** Returns what is wrong with Provenance. Each version must have exactly one Provenance with the version's activity. */
async function provenanceFaults(
  service: Service,
  { type, id }: ModelResource,
  history: readonly ShownVersion[],
): Promise<string[]> {
  const shown: string[] = [];
  for await (const entry of entries(service, `/Provenance?target=${type}/${id}&_count=50`)) {
    const { resource } = entry;
    if (isObject(resource))
      shown.push(`${codeOf(resource.activity)} ${referencesIn(resource.target).join()}`);
  }
  const expected = history.map(({ version, operation }) => `${operation} ${type}/${id}/_history/${version}`);
  const differs = shown.sort().join('; ') !== expected.sort().join('; ');
  return differs ? [`${type}/${id}: Provenance shows ${shown.join('; ')} for ${expected.join('; ')}`] : [];
}

function codeOf(activity: unknown): string {
  const coding = isObject(activity) && Array.isArray(activity.coding) ? activity.coding[0] : undefined;
  return isObject(coding) ? String(coding.code) : '';
}

function referencesIn(target: unknown): string[] {
  return (Array.isArray(target) ? target : []).map((item) => (isObject(item) ? String(item.reference) : ''));
}

/** Returns the resources that a search finds, from as many pages as needed. */
export async function resourcesIn(service: Service, search: string): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  for await (const { resource } of entries(service, search)) if (isObject(resource)) found.push(resource);
  return found;
}

/** Yields the entries of a Bundle and of all pages that follow it by `next` links. */
export async function* entries(service: Service, path: string): AsyncIterable<JsonObject> {
  for (let next: string | undefined = path; next !== undefined; ) {
    const answer = await service.fhir(next);
    if (answer.status !== 200) throw new Error(`GET ${next} got ${answer}`);
    const { entry, link } = answer.json;
    for (const item of Array.isArray(entry) ? entry : []) if (isObject(item)) yield item;
    const link_ = (Array.isArray(link) ? link : []).find(
      (item) => isObject(item) && item.relation === 'next',
    );
    next = isObject(link_) ? String(link_.url) : undefined;
  }
}

/** Runs work on items, with a limited number in progress at a time. */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const item of queue) await work(item);
    }),
  );
}
