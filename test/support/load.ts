/** Clients that send planned commands over HTTP at once and tell the model what they were answered. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { applyPatch, JSON_PATCH, parsePatch } from '#src/fhir/patch/patch.ts';
import { isObject, type Json, type JsonObject, printJson } from '#src/shared/json.ts';
import { contentOf, type Model, type ModelResource } from './model.ts';
import type { Match, PlannedBody, PlannedCommand } from './plan.ts';
import { MARKER_SYSTEM, sample } from './samples.ts';
import type { Answer, Call, Service } from './service.ts';

/** What the clients work with. */
export interface Load {
  readonly model: Model;
  readonly commands: readonly PlannedCommand[];
  readonly records: number;
  readonly clients: number;
  /** The service to send to; while there is none, the promise waits for it. */
  readonly service: () => Promise<Service>;
  /** Whether the service may be killed: only then may a request go unanswered. */
  readonly interrupted: boolean;
}

/** How the answers were distributed: `kind status` → count. */
export type Tally = Map<string, number>;

/** Creates the records and runs all commands, each client one after the other. */
export async function runLoad(load: Load): Promise<Tally> {
  const clients = new Clients(load);
  await clients.createRecords();
  const queue = load.commands[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: load.clients }, async () => {
      for (const command of queue) await clients.run(command);
    }),
  );
  return clients.tally;
}

class Clients {
  readonly tally: Tally = new Map();
  readonly #records: { readonly patient: ModelResource; readonly resources: ModelResource[] }[] = [];
  #transactions = 0;

  constructor(readonly load: Load) {}

  get #model(): Model {
    return this.load.model;
  }

  async createRecords(): Promise<void> {
    for (let index = 0; index < this.load.records; index += 1) {
      const body = sample('Patient', {}, { marker: randomUUID() });
      const answer = await this.#sendUntilAnswered('/Patient', { method: 'POST', body: printJson(body) });
      if (answer.status !== 201) throw new Error(`no record could be created: ${answer}`);
      const id = idOf(answer.json);
      const patient = this.#model.created('Patient', id, id, answer.version, body);
      this.#records.push({ patient, resources: [] });
    }
  }

  async run(command: PlannedCommand): Promise<void> {
    const record = this.#records[command.record];
    if (record === undefined) throw new Error(`no record ${command.record}`);
    switch (command.kind) {
      case 'create':
        return this.#create(record, command.body, command.keyed);
      case 'deletePatient':
        await this.#delete(record.patient, 'none');
        return this.#update(record.patient, sample('Patient', {}, { marker: randomUUID() }), 'none');
      case 'transaction':
        return this.#transaction(record, command);
      default: {
        const resource = [record.patient, ...record.resources][command.pick % (record.resources.length + 1)];
        if (resource === undefined) return;
        if (command.kind === 'update')
          return this.#update(resource, this.#next(resource, command.body), command.match);
        if (command.kind === 'patch') return this.#patch(resource);
        // The Patient is deleted by its own command, which restores it.
        if (resource !== record.patient) return this.#delete(resource, command.match);
      }
    }
  }

  async #create(
    { patient, resources }: { patient: ModelResource; resources: ModelResource[] },
    planned: PlannedBody,
    keyed: boolean,
  ): Promise<void> {
    const body = bodyFor(planned, patient.id);
    const call: Call = { method: 'POST', body: printJson(body) };
    const path = `/${planned.type}`;
    const answer = keyed ? await this.#sendUntilAnswered(path, call) : await this.#send(path, call);
    this.#count('create', answer);
    if (answer?.status === 201) {
      resources.push(this.#model.created(planned.type, idOf(answer.json), patient.id, answer.version, body));
    } else if (answer === undefined) this.#lostCreate(planned.type, patient.id, body, undefined);
    else this.#refused(`create ${planned.type}`, answer, patient.id, []);
  }

  async #update(resource: ModelResource, body: JsonObject, match: Match): Promise<void> {
    const { type, id } = resource;
    const ifMatch = versionFor(resource, match);
    const sent = printJson({ ...body, id });
    const answer = await this.#send(`/${type}/${id}`, {
      method: 'PUT',
      body: sent,
      headers: matchHeader(ifMatch),
    });
    this.#count(`update ${match}`, answer);
    if (answer === undefined) {
      if (match !== 'wrong') this.#model.lost(resource, 'UPDATE', body);
    } else if (answer.status === 200 || answer.status === 201) {
      if (match === 'wrong')
        this.#model.faults.push(`${type}/${id}: If-Match ${ifMatch} was wrong and got ${answer.status}`);
      this.#model.updated(resource, answer.version, body, ifMatch);
    } else this.#refusedMatch(`update ${type}/${id}`, answer, resource, match, ifMatch);
  }

  async #patch(resource: ModelResource): Promise<void> {
    if (resource.deleted) return;
    const { type, id, latest, body } = resource;
    const text = printJson([{ op: 'replace', path: '/identifier/0/value', value: randomUUID() }]);
    const operations: Json = JSON.parse(text) as Json;
    const patched = applyPatch(body, parsePatch(JSON_PATCH, { value: operations, exact: false }));
    const headers = { 'Content-Type': JSON_PATCH, ...matchHeader(latest) };
    const answer = await this.#send(`/${type}/${id}`, { method: 'PATCH', body: text, headers });
    this.#count('patch', answer);
    if (answer === undefined) this.#model.lost(resource, 'UPDATE', patched);
    else if (answer.status === 200) this.#model.updated(resource, answer.version, patched, latest);
    else if (answer.status !== 410)
      this.#refusedMatch(`patch ${type}/${id}`, answer, resource, 'right', latest);
  }

  async #delete(resource: ModelResource, match: Match): Promise<void> {
    const { type, id } = resource;
    const ifMatch = versionFor(resource, match);
    const answer = await this.#send(`/${type}/${id}`, { method: 'DELETE', headers: matchHeader(ifMatch) });
    this.#count(`delete ${match}`, answer);
    if (answer === undefined) {
      if (match !== 'wrong') this.#model.lost(resource, 'DELETE');
    } else if (answer.status === 204) {
      if (match === 'wrong')
        this.#model.faults.push(`${type}/${id}: delete with wrong If-Match ${ifMatch} got 204`);
      this.#model.deleted(resource, answer.version);
    } else this.#refusedMatch(`delete ${type}/${id}`, answer, resource, match, ifMatch);
  }

  async #transaction(
    { patient, resources }: { patient: ModelResource; resources: ModelResource[] },
    command: Extract<PlannedCommand, { kind: 'transaction' }>,
  ): Promise<void> {
    this.#transactions += 1;
    const number = this.#transactions;
    const chosen = new Set<ModelResource>();
    const choose = (pick: number): ModelResource | undefined => {
      const resource = resources[pick % Math.max(1, resources.length)];
      if (resource === undefined || chosen.has(resource)) return undefined;
      chosen.add(resource);
      return resource;
    };
    const urns = command.creates.map(() => `urn:uuid:${randomUUID()}`);
    // The first entry is an Encounter that the others may refer to.
    const creates = command.creates.map((planned, index) => {
      const given = index === 0 ? ({ ...planned, type: 'Encounter' } as const) : planned;
      return { type: given.type, body: bodyFor(given, patient.id, index === 0 ? undefined : urns[0]) };
    });
    const updates = command.updates.flatMap(({ pick, body, match }) => {
      const resource = choose(pick);
      if (resource === undefined) return [];
      return [{ resource, body: this.#next(resource, body), match, ifMatch: versionFor(resource, match) }];
    });
    const deletes = command.deletes.flatMap((pick) => choose(pick) ?? []);
    const entry: JsonObject[] = [
      ...deletes.map(({ type, id }) => ({ request: { method: 'DELETE', url: `${type}/${id}` } })),
      ...creates.map(({ type, body }, index) => ({
        fullUrl: urns[index] ?? '',
        resource: body,
        request: { method: 'POST', url: type },
      })),
      ...updates.map(({ resource: { type, id }, body, ifMatch }) => ({
        resource: { ...body, id },
        request: {
          method: 'PUT',
          url: `${type}/${id}`,
          ...(ifMatch !== undefined && { ifMatch: `W/"${ifMatch}"` }),
        },
      })),
    ];
    const call: Call = {
      method: 'POST',
      body: printJson({ resourceType: 'Bundle', type: 'transaction', entry }),
    };
    const answer = command.keyed ? await this.#sendUntilAnswered('/', call) : await this.#send('/', call);
    this.#count('transaction', answer);
    const wrong = updates.some(({ match }) => match === 'wrong');
    if (answer === undefined) {
      if (wrong) return;
      for (const { type, body } of creates) this.#lostCreate(type, patient.id, body, number);
      for (const { resource, body } of updates) this.#model.lost(resource, 'UPDATE', body, number);
      for (const resource of deletes) this.#model.lost(resource, 'DELETE', undefined, number);
      return;
    }
    if (answer.status !== 200) {
      const matched = updates.filter(({ ifMatch }) => ifMatch !== undefined);
      if (answer.status === 412 && matched.length === 1 && !wrong) {
        for (const { resource, ifMatch } of matched)
          if (ifMatch !== undefined) this.#model.refusedMatch(resource, ifMatch);
      }
      this.#refused('transaction', answer, patient.id, matched.length > 0 ? [412] : []);
      return;
    }
    if (wrong) this.#model.faults.push('a transaction with a wrong ifMatch was accepted');
    const written = writtenIn(answer);
    if (written.length !== entry.length) {
      this.#model.faults.push(`a transaction of ${entry.length} entries was answered with ${written.length}`);
      return;
    }
    const encounter = written[deletes.length]?.id ?? '';
    deletes.forEach((resource, index) => {
      this.#model.deleted(resource, written[index]?.version);
    });
    creates.forEach(({ type, body }, index) => {
      const { id = '', version } = written[deletes.length + index] ?? {};
      const stored = linked(body, urns[0] ?? '', `Encounter/${encounter}`);
      resources.push(this.#model.created(type, id, patient.id, version, stored));
    });
    updates.forEach(({ resource, body, ifMatch }, index) => {
      this.#model.updated(resource, written[deletes.length + creates.length + index]?.version, body, ifMatch);
    });
  }

  #next(resource: ModelResource, planned: PlannedBody): JsonObject {
    return bodyFor({ ...planned, type: resource.type as PlannedBody['type'] }, resource.patient);
  }

  #lostCreate(type: string, patient: string, body: JsonObject, transaction: number | undefined): void {
    const [identifier] = Array.isArray(body.identifier) ? body.identifier : [];
    const marker = isObject(identifier) ? String(identifier.value) : '';
    this.#model.lostCreates.push({ type, marker, patient, content: contentOf(body), transaction });
  }

  #refusedMatch(
    what: string,
    answer: Answer,
    resource: ModelResource,
    match: Match,
    ifMatch: number | undefined,
  ): void {
    if (answer.status === 412 && match === 'right' && ifMatch !== undefined)
      this.#model.refusedMatch(resource, ifMatch);
    this.#refused(what, answer, resource.patient, match === 'none' ? [] : [412]);
  }

  /** 409 is right while the Patient is deleted; whether it was is looked at in the end. */
  #refused(what: string, answer: Answer, patient: string, allowed: readonly number[]): void {
    if (answer.status === 409) this.#model.refusedRecords.add(patient);
    else if (!allowed.includes(answer.status)) this.#model.faults.push(`${what} got ${answer}`);
  }

  #count(kind: string, answer: Answer | undefined): void {
    const key = `${kind} ${answer?.status ?? 'lost'}`;
    this.tally.set(key, (this.tally.get(key) ?? 0) + 1);
  }

  /** Undefined when no answer came, or one that says that the service is going away: the write may have happened. */
  async #send(path: string, call: Call): Promise<Answer | undefined> {
    const service = await this.load.service();
    try {
      const answer = await service.fhir(path, call);
      return this.load.interrupted && answer.status === 503 ? undefined : answer;
    } catch (error) {
      if (this.load.interrupted) return undefined;
      throw error;
    }
  }

  /** Sends the same request with the same Idempotency-Key until it is answered. */
  async #sendUntilAnswered(path: string, call: Call): Promise<Answer> {
    const keyed = { ...call, headers: { ...call.headers, 'Idempotency-Key': randomUUID() } };
    for (;;) {
      const answer = await this.#send(path, keyed);
      const retryAfter = Number(answer?.headers.get('retry-after') ?? 0);
      if (answer !== undefined && !(answer.status === 409 && retryAfter > 0)) return answer;
      if (retryAfter > 0) await pause(retryAfter * 1_000);
    }
  }
}

function bodyFor({ type, variation }: PlannedBody, patient: string, encounter?: string): JsonObject {
  const refs =
    type === 'Patient'
      ? {}
      : { patient: `Patient/${patient}`, ...(encounter !== undefined && { encounter }) };
  return sample(type, refs, { marker: randomUUID(), ...variation });
}

function versionFor(resource: ModelResource, match: Match): number | undefined {
  if (match === 'none') return undefined;
  if (match === 'right') return resource.latest;
  return resource.latest > 1 ? resource.latest - 1 : resource.latest + 1_000;
}

function matchHeader(version: number | undefined): Record<string, string> {
  return version === undefined ? {} : { 'If-Match': `W/"${version}"` };
}

function idOf(resource: JsonObject): string {
  return String(resource.id);
}

/** Ids and versions in a transaction's answer, entry by entry. */
function writtenIn(answer: Answer): { id?: string; version?: number }[] {
  const { entry } = answer.json;
  return (Array.isArray(entry) ? entry : []).map((item) => {
    const response = isObject(item) && isObject(item.response) ? item.response : {};
    const version = /^W\/"(\d+)"$/.exec(String(response.etag))?.[1];
    const id = /\/([^/]+)\/_history\/\d+$/.exec(String(response.location))?.[1];
    return { ...(id !== undefined && { id }), ...(version !== undefined && { version: Number(version) }) };
  });
}

/** The body as it is stored: its link into the Bundle leads to the id that the Encounter got. */
function linked(body: JsonObject, urn: string, reference: string): JsonObject {
  const { encounter } = body;
  return isObject(encounter) && encounter.reference === urn ? { ...body, encounter: { reference } } : body;
}

/** The search that finds a resource by its marker. */
export function markerSearch(type: string, marker: string): string {
  return `/${type}?identifier=${encodeURIComponent(`${MARKER_SYSTEM}|${marker}`)}`;
}
