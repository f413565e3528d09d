/** What the clients of a load share: the way to the service, the model, and a count of the answers. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isObject, type JsonObject } from '#src/shared/json.ts';
import { contentOf, type Model, type ModelResource } from './model.ts';
import type { Match, PlannedBody } from './plan.ts';
import { type SampleRefs, sample } from './samples.ts';
import type { Answer, Call, Service } from './service.ts';

/** A record: its Patient and everything else that was created in it. */
export interface LoadRecord {
  readonly patient: ModelResource;
  readonly resources: ModelResource[];
}

/** How the answers were distributed: `kind status` → count. */
export type Tally = Map<string, number>;

/** Sends for the clients. */
export class LoadSession {
  readonly tally: Tally = new Map();

  /**
   * @param service the service to send to; while there is none, the promise waits for it.
   * @param interrupted whether the service may be killed: only then may a request go unanswered.
   */
  constructor(
    readonly model: Model,
    readonly service: () => Promise<Service>,
    readonly interrupted: boolean,
  ) {}

  /** Undefined when no answer came, or one that says that the service is going away: the write may have happened. */
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
      // 409 says that the first attempt still runs, or that its lease has not ended yet.
      if (retryAfter > 0) await pause(retryAfter * 1_000);
    }
  }

  count(kind: string, answer: Answer | undefined): void {
    const key = `${kind} ${answer?.status ?? 'lost'}`;
    this.tally.set(key, (this.tally.get(key) ?? 0) + 1);
  }

  /** A create got no answer. @param transaction which lost transaction it is of. */
  lostCreate(type: string, patient: string, body: JsonObject, transaction?: number): void {
    const [identifier] = Array.isArray(body.identifier) ? body.identifier : [];
    const marker = isObject(identifier) ? String(identifier.value) : '';
    this.model.lostCreates.push({ type, marker, patient, content: contentOf(body), transaction });
  }

  /** A write to a known resource was refused: 412 is right with an `If-Match` that is, or has become, outdated. */
  refusedMatch(what: string, answer: Answer, resource: ModelResource, match: Match, ifMatch?: number): void {
    if (answer.status === 412 && match === 'right' && ifMatch !== undefined)
      this.model.refusedMatch(resource, ifMatch);
    this.refused(what, answer, resource.patient, match === 'none' ? [] : [412]);
  }

  /** A write was refused. 409 is right while the Patient is deleted; whether it was is looked at in the end. */
  refused(what: string, answer: Answer, patient: string, allowed: readonly number[]): void {
    if (answer.status === 409) this.model.refusedRecords.add(patient);
    else if (!allowed.includes(answer.status)) this.model.faults.push(`${what} got ${answer}`);
  }
}

/**
 * Returns a planned resource of a record, with a marker of its own.
 * @param links what it may refer to beside the Patient.
 */
export function bodyFor(
  { type, variation }: PlannedBody,
  patient: string,
  links: SampleRefs = {},
): JsonObject {
  const refs = type === 'Patient' ? {} : { patient: `Patient/${patient}`, ...links };
  return sample(type, refs, { marker: randomUUID(), ...variation });
}

/** Returns the next version of a resource as planned: of the same type, in the same record. */
export function nextBody({ type, patient }: ModelResource, planned: PlannedBody): JsonObject {
  return bodyFor({ ...planned, type: type as PlannedBody['type'] }, patient);
}

/** What `If-Match` names. A wrong one is older than what was acknowledged, or far ahead: nothing can make it right. */
export function versionFor({ latest }: ModelResource, match: Match): number | undefined {
  if (match === 'none') return undefined;
  if (match === 'right') return latest;
  return latest > 1 ? latest - 1 : latest + 1_000;
}
