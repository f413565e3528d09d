/** Sends a load's transactions: creates that link to each other, and updates and deletes of various resources in one record. */
import { randomUUID } from 'node:crypto';
import { isObject, type JsonObject, parseJson, printJson } from '#src/shared/json/json.ts';
import { bodyFor, type LoadRecord, type LoadSession, nextBody, versionFor } from './load-session.ts';
import type { ModelResource } from './model.ts';
import type { Match, PlannedBody, PlannedCommand } from './plan.ts';
import type { Answer, Call } from './service.ts';

type Planned = Extract<PlannedCommand, { kind: 'transaction' }>;

/** A transaction to send, with its entries in the order of these members. */
interface Transaction {
  readonly deletes: readonly ModelResource[];
  readonly creates: readonly { readonly type: string; readonly urn: string; readonly body: JsonObject }[];
  readonly updates: readonly {
    readonly resource: ModelResource;
    readonly body: JsonObject;
    readonly match: Match;
    readonly ifMatch: number | undefined;
  }[];
}

let sent = 0;

/** Sends a transaction and updates the model. */
export async function sendTransaction(
  session: LoadSession,
  record: LoadRecord,
  planned: Planned,
): Promise<void> {
  sent += 1;
  const number = sent;
  const transaction = resolve(record, planned);
  const entry = entriesOf(transaction);
  const call: Call = {
    method: 'POST',
    body: printJson({ resourceType: 'Bundle', type: 'transaction', entry }),
  };
  const answer = planned.keyed ? await session.sendUntilAnswered('/', call) : await session.send('/', call);
  session.count('transaction', answer);
  if (answer === undefined) lost(session, record, transaction, number);
  else if (answer.status !== 200) refused(session, record, transaction, answer);
  else accepted(session, record, transaction, writtenIn(answer), entry.length);
}

/**
 * Chooses the resources, each of them only once. The first create may be a Practitioner, followed by an Encounter; later
 * resources may refer to both.
 */
function resolve({ patient, resources }: LoadRecord, planned: Planned): Transaction {
  const chosen = new Set<ModelResource>();
  const choose = (pick: number): ModelResource[] => {
    const resource = resources[pick % Math.max(1, resources.length)];
    if (resource === undefined || chosen.has(resource)) return [];
    chosen.add(resource);
    return [resource];
  };
  const links: { practitioner?: string; encounter?: string } = {};
  const creates: Transaction['creates'][number][] = [];
  const add = (body: PlannedBody, link?: keyof typeof links): void => {
    const urn = `urn:uuid:${randomUUID()}`;
    creates.push({ type: body.type, urn, body: bodyFor(body, patient.id, links) });
    if (link !== undefined) links[link] = urn;
  };
  const [first, ...others] = planned.creates;
  if (first !== undefined) {
    if (planned.practitioner) add({ ...first, type: 'Practitioner' }, 'practitioner');
    add({ ...first, type: 'Encounter' }, 'encounter');
  }
  for (const body of others) add(body);
  return {
    deletes: planned.deletes.flatMap(choose),
    creates,
    updates: planned.updates.flatMap(({ pick, body, match }) =>
      choose(pick).map((resource) => ({
        resource,
        body: nextBody(resource, body),
        match,
        ifMatch: versionFor(resource, match),
      })),
    ),
  };
}

function entriesOf({ deletes, creates, updates }: Transaction): JsonObject[] {
  return [
    ...deletes.map(({ type, id }) => ({ request: { method: 'DELETE', url: `${type}/${id}` } })),
    ...creates.map(({ type, urn, body }) => ({
      fullUrl: urn,
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
}

const isWrong = ({ updates }: Transaction): boolean => updates.some(({ match }) => match === 'wrong');

function lost(session: LoadSession, { patient }: LoadRecord, transaction: Transaction, number: number): void {
  if (isWrong(transaction)) return;
  const { deletes, creates, updates } = transaction;
  for (const { type, body } of creates) session.lostCreate(type, patient.id, body, number);
  for (const { resource, body } of updates) session.model.lost(resource, 'UPDATE', body, number);
  for (const resource of deletes) session.model.lost(resource, 'DELETE', undefined, number);
}

function refused(
  session: LoadSession,
  { patient }: LoadRecord,
  transaction: Transaction,
  answer: Answer,
): void {
  const matched = transaction.updates.filter(({ match }) => match !== 'none');
  const [only] = matched;
  // If there are several entries, it is unknown which of them was outdated.
  if (
    answer.status === 412 &&
    matched.length === 1 &&
    only?.match === 'right' &&
    only.ifMatch !== undefined
  ) {
    session.model.refusedMatch(only.resource, only.ifMatch);
  }
  session.refused('transaction', answer, patient.id, matched.length > 0 ? [412] : []);
}

function accepted(
  { model }: LoadSession,
  { patient, resources }: LoadRecord,
  transaction: Transaction,
  written: readonly Written[],
  entries: number,
): void {
  if (isWrong(transaction)) model.faults.push('a transaction with a wrong ifMatch was accepted');
  if (written.length !== entries) {
    model.faults.push(`a transaction of ${entries} entries was answered with ${written.length}`);
    return;
  }
  const { deletes, creates, updates } = transaction;
  const answers = [...written];
  for (const resource of deletes) model.deleted(resource, answers.shift()?.version);
  const references = new Map(creates.map(({ type, urn }, index) => [urn, `${type}/${answers[index]?.id}`]));
  for (const { type, body } of creates) {
    const { id = '', version } = answers.shift() ?? {};
    const created = model.created(type, id, patient.id, version, linked(body, references));
    // An existing directory entry can't be changed in the same transaction as a record.
    if (type !== 'Practitioner') resources.push(created);
  }
  for (const { resource, body, ifMatch } of updates) {
    model.updated(resource, answers.shift()?.version, body, ifMatch);
  }
}

/** Returns the body as stored: links within the Bundle are replaced by the entries' new ids. */
function linked(body: JsonObject, references: ReadonlyMap<string, string>): JsonObject {
  const text = printJson(body).replace(/urn:uuid:[0-9a-f-]{36}/g, (urn) => references.get(urn) ?? urn);
  return parseJson(text).value as JsonObject;
}

interface Written {
  readonly id?: string;
  readonly version?: number;
}

/** Returns the ids and versions in a transaction's response, in the order of the entries. */
function writtenIn(answer: Answer): Written[] {
  const { entry } = answer.json;
  return (Array.isArray(entry) ? entry : []).map((item) => {
    const response = isObject(item) && isObject(item.response) ? item.response : {};
    const version = /^W\/"(\d+)"$/.exec(String(response.etag))?.[1];
    const id = /\/([^/]+)\/_history\/\d+$/.exec(String(response.location))?.[1];
    return { ...(id !== undefined && { id }), ...(version !== undefined && { version: Number(version) }) };
  });
}
