/**
 * Upcasting: when an event is read that was written as an earlier version of its type, it is converted to the current version.
 * The log keeps the bytes as they were written, and the hash chain is computed over those bytes.
 *
 * Each upcaster converts the data from one version to the next. An upcaster never changes after its release, because logs keep
 * events with that version. For resource events, it receives only the header (`resource-header.ts`); bodies are returned as
 * they were written.
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

/**
 * Maps an event type to its upcasters, starting with the one from version 1 to 2. The compiler requires an upcaster for each
 * step.
 */
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
 * Returns an event's data (for a resource event, its header) in the form of its type's current version.
 * @param version the data's version; at most the current version.
 * @throws TypeError for a version that never existed, or if the data isn't an object.
 */
export function upcast(type: EventType, version: number, data: unknown): EventData {
  if (!Number.isInteger(version) || version < 1 || version > CATALOG[type].version)
    throw new TypeError(`${type} has no version ${version}`);
  if (!isObject(data)) throw new TypeError(`the data of ${type} version ${version} are not an object`);
  const steps = STEPS[type] ?? [];
  return steps.slice(version - 1).reduce<EventData>((older, step) => step(older), data);
}
