/** Records that read models are rebuilt from. */
import type { Position } from '#src/events/store.ts';
import { newUuid } from '#src/shared/ids.ts';
import type { Instance } from './instance.ts';
import { created, deleted, erased, type Streams, updated } from './made.ts';

/** Writes a record with creates, updates, deletes and, occasionally, an erasure. */
export async function someRecord({ store }: Instance, streams: Streams, n: number): Promise<Position> {
  const patient = newUuid();
  const identifier = [{ system: 'urn:mrn', value: `mrn-${n}` }];
  let last = await streams.record(patient, created('Patient', patient, { identifier }));
  const [one, two] = [newUuid(), newUuid()];
  last = await streams.record(
    patient,
    created('Observation', one),
    created('Condition', two, { identifier }),
  );
  last = await streams.record(
    patient,
    updated('Observation', one, 2),
    updated('Patient', patient, 2, { identifier }),
  );
  last = await streams.record(patient, deleted('Condition', two, 3 - 1));
  if (n % 7 === 0) last = await streams.directory(created('Practitioner', newUuid(), { identifier }));
  if (n % 5 === 0) {
    await store.erase(`record-${patient}`);
    last = await streams.project(erased(patient));
  }
  return last;
}
/** So many of them. */
export async function someRecords(instance: Instance, streams: Streams, n: number): Promise<Position> {
  let last = await someRecord(instance, streams, 1);
  for (let i = 2; i <= n; i += 1) last = await someRecord(instance, streams, i);
  return last;
}
