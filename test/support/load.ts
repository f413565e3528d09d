/** Runs clients that send planned commands over HTTP concurrently, and records the responses in the model. */
import { randomUUID } from 'node:crypto';
import { applyPatch, JSON_PATCH, parsePatch } from '#src/fhir/patch/patch.ts';
import { type JsonObject, parseJson, printJson } from '#src/shared/json/json.ts';
import { bodyFor, type LoadRecord, LoadSession, nextBody, type Tally, versionFor } from './load-session.ts';
import { sendTransaction } from './load-transaction.ts';
import type { Model, ModelResource } from './model.ts';
import type { Match, PlannedBody, PlannedCommand } from './plan.ts';
import { sample } from './samples.ts';
import type { Service } from './service.ts';

/** The clients' input. */
export interface Load {
  readonly model: Model;
  readonly commands: Iterable<PlannedCommand>;
  readonly records: number;
  readonly clients: number;
  /** Returns the service to send requests to; while none is running, the promise waits for one. */
  readonly service: () => Promise<Service>;
  /** True if the service may be killed; only then may a request remain unanswered. */
  readonly interrupted: boolean;
}

/**
 * Creates the records and runs all commands; each client sends one command at a time.
 * @returns the counts of the responses
 */
export async function runLoad(load: Load): Promise<Tally> {
  const session = new LoadSession(load.model, load.service, load.interrupted);
  const records: LoadRecord[] = [];
  while (records.length < load.records) records.push(await createRecord(session));
  const queue = load.commands[Symbol.iterator]();
  const client = async (): Promise<void> => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) {
      const record = records[next.value.record];
      if (record === undefined) throw new Error(`no record ${next.value.record}`);
      await run(session, record, next.value);
    }
  };
  await Promise.all(Array.from({ length: load.clients }, client));
  return session.tally;
}

async function createRecord(session: LoadSession): Promise<LoadRecord> {
  const body = sample('Patient', {}, { marker: randomUUID() });
  const answer = await session.sendUntilAnswered('/Patient', { method: 'POST', body: printJson(body) });
  if (answer.status !== 201) throw new Error(`no record could be created: ${answer}`);
  const id = String(answer.json.id);
  return { patient: session.model.created('Patient', id, id, answer.version, body), resources: [] };
}

async function run(session: LoadSession, record: LoadRecord, command: PlannedCommand): Promise<void> {
  const { patient, resources } = record;
  switch (command.kind) {
    case 'create':
      return create(session, record, command.body, command.keyed);
    case 'transaction':
      return sendTransaction(session, record, command);
    case 'deletePatient':
      await remove(session, patient, 'none');
      return update(session, patient, sample('Patient', {}, { marker: randomUUID() }), 'none');
    case 'delete': {
      // The Patient is deleted and restored by a different kind of command.
      const resource = resources[command.pick % Math.max(1, resources.length)];
      return resource === undefined ? undefined : remove(session, resource, command.match);
    }
    default: {
      const resource = [patient, ...resources][command.pick % (resources.length + 1)] ?? patient;
      if (command.kind === 'patch') return patch(session, resource);
      return update(session, resource, nextBody(resource, command.body), command.match);
    }
  }
}

async function create(
  session: LoadSession,
  { patient, resources }: LoadRecord,
  planned: PlannedBody,
  keyed: boolean,
): Promise<void> {
  const body = bodyFor(planned, patient.id);
  const { type } = planned;
  const call = { method: 'POST', body: printJson(body) };
  const answer = keyed
    ? await session.sendUntilAnswered(`/${type}`, call)
    : await session.send(`/${type}`, call);
  session.count('create', answer);
  if (answer === undefined) session.lostCreate(type, patient.id, body);
  else if (answer.status !== 201) session.refused(`create ${type}`, answer, patient.id, []);
  else resources.push(session.model.created(type, String(answer.json.id), patient.id, answer.version, body));
}

async function update(
  session: LoadSession,
  resource: ModelResource,
  body: JsonObject,
  match: Match,
): Promise<void> {
  const { model } = session;
  const name = `${resource.type}/${resource.id}`;
  const ifMatch = versionFor(resource, match);
  const answer = await session.send(`/${name}`, {
    method: 'PUT',
    body: printJson({ ...body, id: resource.id }),
    headers: ifMatchHeader(ifMatch),
  });
  session.count(`update ${match}`, answer);
  if (answer === undefined) {
    if (match !== 'wrong') model.lost(resource, 'UPDATE', body);
  } else if (answer.status === 200 || answer.status === 201) {
    if (match === 'wrong')
      model.faults.push(`${name}: If-Match ${ifMatch} was wrong and got ${answer.status}`);
    model.updated(resource, answer.version, body, ifMatch);
  } else session.refusedMatch(`update ${name}`, answer, resource, match, ifMatch);
}

/**
 * Sends a patch that is based on a version known to the model and valid only for that version, so that the result is also
 * known.
 */
async function patch(session: LoadSession, resource: ModelResource): Promise<void> {
  const { type, id, latest, deleted, body } = resource;
  if (deleted) return;
  const text = printJson([{ op: 'replace', path: '/identifier/0/value', value: randomUUID() }]);
  const patched = applyPatch(body, parsePatch(JSON_PATCH, parseJson(text)));
  const answer = await session.send(`/${type}/${id}`, {
    method: 'PATCH',
    body: text,
    headers: { 'Content-Type': JSON_PATCH, ...ifMatchHeader(latest) },
  });
  session.count('patch', answer);
  if (answer === undefined) session.model.lost(resource, 'UPDATE', patched);
  else if (answer.status === 200) session.model.updated(resource, answer.version, patched, latest);
  else if (answer.status === 410) session.model.refusedMatch(resource, latest);
  else session.refusedMatch(`patch ${type}/${id}`, answer, resource, 'right', latest);
}

async function remove(session: LoadSession, resource: ModelResource, match: Match): Promise<void> {
  const name = `${resource.type}/${resource.id}`;
  const ifMatch = versionFor(resource, match);
  const answer = await session.send(`/${name}`, { method: 'DELETE', headers: ifMatchHeader(ifMatch) });
  session.count(`delete ${match}`, answer);
  if (answer === undefined) {
    if (match !== 'wrong') session.model.lost(resource, 'DELETE');
  } else if (answer.status === 204) {
    if (match === 'wrong')
      session.model.faults.push(`${name}: a delete with wrong If-Match ${ifMatch} got 204`);
    session.model.deleted(resource, answer.version);
  } else session.refusedMatch(`delete ${name}`, answer, resource, match, ifMatch);
}

function ifMatchHeader(version: number | undefined): Record<string, string> {
  return version === undefined ? {} : { 'If-Match': `W/"${version}"` };
}
