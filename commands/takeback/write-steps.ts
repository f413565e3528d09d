/**
 * Writes a take-back's steps to one record or directory: all or none, and only if nothing has changed since the steps were
 * decided.
 */
import { createHash } from 'node:crypto';
import type { Draft } from '#src/events/codec.ts';
import type { EventMetadata } from '#src/events/metadata.ts';
import { recordPatient } from '#src/events/streams.ts';
import { isResourceType } from '#src/fhir/types.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import { IdSource, newId } from '#src/shared/ids.ts';
import { type Micros, nowMicros, toInstant } from '#src/shared/time/time.ts';
import type { Clock } from '../kernel/decision.ts';
import { Stale } from '../kernel/kernel.ts';
import type { Streams } from '../kernel/streams.ts';
import { findEntry, type Resources } from '../resource/state.ts';
import { nameCause, nameUndoCause } from './selection.ts';
import type { Step } from './steps.ts';

/** A step, including the text of the version that it restores; undefined for a deletion. */
export interface ReadyStep extends Step {
  readonly body: string | undefined;
}

/** The take-back that the steps belong to. */
export interface Order {
  readonly id: string;
  readonly kind: 'start' | 'undo';
  readonly owner: Tenant;
  /** The credential of the person who ordered the take-back. */
  readonly credential: EventMetadata['credential'];
  /** When the take-back was planned: ids are derived from this time, so that a repeated append is identical. */
  readonly at: Micros;
}

/** The maximum number of characters in bodies, and of events, per append. */
const MOST_CHARACTERS = 3_000_000;
const MOST_EVENTS = 2_000;

/**
 * Writes steps in one append, or in several if one would be too large.
 * @param written the current versions of resources whose steps were already written; these don't count as written by others
 * @returns the number of versions written
 * @throws Stale if a resource no longer has the version on which its step was decided, if others have deleted the Patient, or
 * if others have written to the record of a Patient that is to be deleted
 */
export async function writeSteps(
  resources: Streams<Resources>,
  order: Order,
  stream: string,
  steps: readonly ReadyStep[],
  written: ReadonlyMap<string, number> = new Map(),
): Promise<number> {
  const { id, kind, owner, credential } = order;
  const millis = Math.floor(order.at / 1000);
  const cause = kind === 'undo' ? nameUndoCause(id) : nameCause(id);
  const ids = new IdSource(makeSeed(`${cause}/${stream}`), millis);
  const own = new Map([...written, ...steps.map((step) => [step.id, step.current + 1] as const)]);
  const patient = recordPatient(stream);
  for (const [index, part] of inParts(steps).entries()) {
    await resources.handle({
      stream,
      owner,
      now: nowMicros,
      metadata: {
        request_id: newId('req_'),
        command_id: ids.at(index, 'command'),
        credential,
        author: { type: 'import' },
        source_system: nameCause(id),
        cause,
      },
      touches: [...part.map((step) => step.id), ...(patient === undefined ? [] : [patient])],
      decide: (state, clock) => {
        if (patient !== undefined) checkPatient(state, patient, part, own);
        return { drafts: part.map((step) => draft(state, clock, step, ids)), result: undefined };
      },
    });
  }
  return steps.length;
}

/**
 * Checks what was decided about the record's Patient: the Patient isn't deleted or, if it is to be deleted, others haven't
 * written to the record since the Patient was last written.
 * @throws Stale
 */
function checkPatient(
  state: Resources,
  patient: string,
  part: readonly ReadyStep[],
  own: ReadonlyMap<string, number>,
): void {
  const entry = findEntry(state, patient);
  if (entry === undefined) throw new Stale();
  const step = part.find(({ id }) => id === patient);
  if (step === undefined) {
    if (entry.deleted) throw new Stale();
  } else if (step.removes) {
    for (const [id, other] of state.entries)
      if (
        other !== null &&
        isResourceType(other.type) &&
        !other.deleted &&
        other.version > (own.get(id) ?? 0)
      )
        if (other.revision > entry.revision) throw new Stale();
  }
}

function draft(state: Resources, clock: Clock, step: ReadyStep, ids: IdSource): Draft {
  const { type, id, current, restores, body, author } = step;
  if (!isResourceType(type)) throw new TypeError(`${type} is not a type of resources`);
  if (findEntry(state, id)?.version !== current) throw new Stale();
  const at = clock.next();
  const version = current + 1;
  const head = { resourceType: type, resourceId: id, version };
  return {
    id: ids.at(version, id),
    at,
    event:
      body === undefined
        ? { type: 'ResourceDeleted', ...head }
        : { type: 'ResourceUpdated', ...head, body: renumbered(body, version, at) },
    by: {
      ...(restores === 0 ? {} : { origin_id: `${type}/${id}/_history/${restores}` }),
      ...(author === undefined
        ? {}
        : { author: { type: author.type, ...(author.model === undefined ? {} : { model: author.model }) } }),
    },
  };
}

/** Matches the beginning of every stored version. */
const HEAD = /^(\{"resourceType":"\w+","id":"[^"]+","meta":\{"versionId":")\d+(","lastUpdated":")[^"]+/;

/** Returns a stored version with a different number and time; all other characters stay unchanged. */
function renumbered(body: string, version: number, at: Micros): string {
  if (!HEAD.test(body)) throw new TypeError('a stored version begins with its type, id, number and time');
  return body.replace(
    HEAD,
    (_, before: string, between: string) => `${before}${version}${between}${toInstant(at)}`,
  );
}

function inParts(steps: readonly ReadyStep[]): ReadyStep[][] {
  const parts: ReadyStep[][] = [];
  let [characters, part]: [number, ReadyStep[]] = [0, []];
  for (const step of steps) {
    characters += step.body?.length ?? 0;
    if (part.length === MOST_EVENTS || (part.length > 0 && characters > MOST_CHARACTERS)) {
      parts.push(part);
      [characters, part] = [step.body?.length ?? 0, []];
    }
    part.push(step);
  }
  return part.length === 0 ? parts : [...parts, part];
}

/** Returns a UUID derived from text. */
function makeSeed(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}
