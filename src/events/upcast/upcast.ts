/**
 * Upcasting: events that were written as an earlier version of their type are turned into the current version when they
 * are read. The log keeps the bytes as they were written, and the hash chain is computed over those bytes.
 *
 * Each upcaster turns the data of one version into the next version's. It never changes once it was released, because
 * logs keep events of that version. Of resource events it gets only the header (`resource-header.ts`): bodies are
 * returned as they were written.
 */
import { isObject } from '../../shared/json/json.ts';
import { CATALOG, type EventType } from '../catalog.ts';
import { apiKeyCreatedTo2 } from './api-key-created.ts';
import { applicationBrandedTo2 } from './application-branded.ts';
import {
  applicationRegisteredTo2,
  applicationRegisteredTo3,
  applicationRegisteredTo4,
} from './application-registered.ts';
import { organizationMemberAddedTo2 } from './organization-member-added.ts';
import { recordErasedTo2, recordErasedTo3 } from './record-erased.ts';
import type { EventData, Upcaster } from './upcaster.ts';

/** A tuple with one upcaster for each step from version 1 to version `V`. */
type StepsTo<V extends number, S extends readonly Upcaster[] = readonly []> = [1, ...S]['length'] extends V
  ? S
  : StepsTo<V, readonly [...S, Upcaster]>;

type VersionOf<T extends EventType> = (typeof CATALOG)[T]['version'];

/** Event type → its upcasters, the first from version 1 to 2. The compiler demands one for each step. */
export const UPCASTERS: {
  readonly [T in EventType as VersionOf<T> extends 1 ? never : T]: StepsTo<VersionOf<T>>;
} = {
  ApiKeyCreated: [apiKeyCreatedTo2],
  ApplicationBranded: [applicationBrandedTo2],
  ApplicationRegistered: [applicationRegisteredTo2, applicationRegisteredTo3, applicationRegisteredTo4],
  OrganizationMemberAdded: [organizationMemberAddedTo2],
  RecordErased: [recordErasedTo2, recordErasedTo3],
};

const STEPS: Readonly<Partial<Record<EventType, readonly Upcaster[]>>> = UPCASTERS;

/**
 * Returns an event's data, of a resource event its header, in the form of the current version of its type.
 * @param version of the data: at most the current one.
 * @throws TypeError for a version that never existed, or data that are not an object.
 */
export function upcast(type: EventType, version: number, data: unknown): EventData {
  if (!Number.isInteger(version) || version < 1 || version > CATALOG[type].version)
    throw new TypeError(`${type} has no version ${version}`);
  if (!isObject(data)) throw new TypeError(`the data of ${type} version ${version} are not an object`);
  const steps = STEPS[type] ?? [];
  return steps.slice(version - 1).reduce<EventData>((older, step) => step(older), data);
}
