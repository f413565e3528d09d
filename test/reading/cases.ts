/** The records that are compared with a second reading: records varied by seed, and Synthea's. */
import { TODAY } from '#test/context/records.ts';
import { scaled, someOf, steadySeed } from '#test/support/scale.ts';
import { readAgain, type SecondReading } from './second-reading.ts';
import { syntheaFiles, syntheaRecord } from './synthea-records.ts';
import { type VariedRecord, variedRecords } from './varied-records.ts';

/** Some records, made on request. */
export interface RecordCase {
  readonly name: string;
  readonly read: () => readonly VariedRecord[];
}

/** The varied records: 300 in `npm run prove`. */
export const VARIED: readonly RecordCase[] = Array.from({ length: scaled(10, 1) }, (_, n) => {
  const seed = steadySeed() + n;
  return { name: `seed ${seed}`, read: () => variedRecords(seed) };
});

/** A Synthea record that has allergies, medicines, problems and values, and isn't too large. */
const FIRST = /^Jacqueline_Wyman/;

/** Synthea's records: all twelve in `npm run prove`; none if their folder is missing. */
export function syntheaCases(): readonly RecordCase[] {
  const files = syntheaFiles();
  const ordered = [...files.filter((file) => FIRST.test(file)), ...files.filter((file) => !FIRST.test(file))];
  return someOf(ordered, 1).map((file) => ({
    name: `Synthea, ${file.split('_', 2).join(' ')}`,
    read: () => [syntheaRecord(file)],
  }));
}

/** Checks each record, in one test per case. Without Synthea's records, a skipped test says that they are missing. */
export function eachRecord(
  what: string,
  check: (record: VariedRecord, again: SecondReading) => Promise<void> | void,
): void {
  const synthea = syntheaCases();
  for (const { name, read } of [...VARIED, ...synthea]) {
    it(`${what} (${name})`, async () => {
      for (const record of read()) await check(record, readAgain(record.versions, record.directory, TODAY));
    });
  }
  if (synthea.length === 0) it.skip(`${what} (Synthea: ANNAL_SYNTHEA_DIR names no folder)`);
}
