/** The state that the clients of a load test share: the connection to the service, the model, and a count of the responses. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { contentOf, type Model, type ModelResource } from './model.ts';
import type { Match, PlannedBody } from './plan.ts';
import { type SampleRefs, sample } from './samples.ts';
import type { Answer, Call, Service } from './service.ts';

/** A record: its Patient and all other resources created in it. */
export interface LoadRecord {
  readonly patient: ModelResource;
  readonly resources: ModelResource[];
}

/** Number of responses: `kind status` → count. */
export type Tally = Map<string, number>;

/** Sends requests for the clients. */
export class LoadSession {
  readonly tally: Tally = new Map();

  /**
   * Creates a session.
   * @param service returns the service to send requests to; while none is running, the promise waits for one
   * @param interrupted whether the service may be killed; only then may a request remain unanswered
   */
  constructor(
    readonly model: Model,
    readonly service: () => Promise<Service>,
    readonly interrupted: boolean,
  ) {}

  /**
   * Sends a request.
   * @returns undefined if there was no response, or the response said that the service is shutting down; the write may have
   *   happened
   */
  async send(path: string, call: Call): Promise<Answer | undefined> {
    const service = await this.service();
    try {
      const answer = await service.fhir(path, call);
      return this.interrupted && answer.status === 503 ? undefined : answer;
    } catch (error) {
      if (this.interrupted) return undefined;
      throw error;
    }
  }

  /** Sends the same request with the same Idempotency-Key until it is answered. */
  async sendUntilAnswered(path: string, call: Call): Promise<Answer> {
    const keyed = { ...call, headers: { ...call.headers, 'Idempotency-Key': randomUUID() } };
    for (;;) {
      const answer = await this.send(path, keyed);
      const retryAfter = Number(answer?.headers.get('retry-after') ?? 0);
      if (answer !== undefined && !(answer.status === 409 && retryAfter > 0)) return answer;
      // 409 means that the first attempt is still running, or that its lease has not expired yet.
      if (retryAfter > 0) await pause(retryAfter * 1_000);
    }
  }

  count(kind: string, answer: Answer | undefined): void {
    const key = `${kind} ${answer?.status ?? 'lost'}`;
    this.tally.set(key, (this.tally.get(key) ?? 0) + 1);
  }

  /**
   * Notes a create that wasn't answered.
   * @param transaction the lost transaction that contains the create
   */
  lostCreate(type: string, patient: string, body: JsonObject, transaction?: number): void {
    const [identifier] = Array.isArray(body.identifier) ? body.identifier : [];
    const marker = isObject(identifier) ? String(identifier.value) : '';
    this.model.lostCreates.push({ type, marker, patient, content: contentOf(body), transaction });
  }

  /** Notes a refused write to a known resource. 412 is correct if `If-Match` is or has become outdated. */
  refusedMatch(what: string, answer: Answer, resource: ModelResource, match: Match, ifMatch?: number): void {
    if (answer.status === 412 && match === 'right' && ifMatch !== undefined)
      this.model.refusedMatch(resource, ifMatch);
    this.refused(what, answer, resource.patient, match === 'none' ? [] : [412]);
  }

  /** Notes a refused write. 409 is correct while the Patient is deleted; the final check determines whether it was. */
  refused(what: string, answer: Answer, patient: string, allowed: readonly number[]): void {
    if (answer.status === 409) this.model.refusedRecords.add(patient);
    else if (!allowed.includes(answer.status)) this.model.faults.push(`${what} got ${answer}`);
  }
}

/**
 * Returns a planned resource for a record, with a new marker.
 * @param links resources that it may refer to in addition to the Patient
 */
export function bodyFor(
  { type, variation }: PlannedBody,
  patient: string,
  links: SampleRefs = {},
): JsonObject {
  const refs = type === 'Patient' ? {} : { patient: `Patient/${patient}`, ...links };
  return sample(type, refs, { marker: randomUUID(), ...variation });
}

/** Returns the next version of a planned resource, with the same type and in the same record. */
export function nextBody({ type, patient }: ModelResource, planned: PlannedBody): JsonObject {
  return bodyFor({ ...planned, type: type as PlannedBody['type'] }, patient);
}

/**
 * Returns the version for `If-Match`. A wrong version is either older than an acknowledged version, or so far ahead that it
 * can't become right.
 */
export function versionFor({ latest }: ModelResource, match: Match): number | undefined {
  if (match === 'none') return undefined;
  if (match === 'right') return latest;
  return latest > 1 ? latest - 1 : latest + 1_000;
}
