/** Sandbox records, varied so that each rule of a reading is exercised. A seed determines everything. */
import { CAST } from '#src/sandbox/cast.ts';
import { generateSandbox } from '#src/sandbox/generate.ts';
import { IdSource } from '#src/shared/ids.ts';
import { TODAY } from '#test/context/records.ts';
import { additionsTo } from './additions.ts';
import { Chance } from './chance.ts';
import type { Json, Version } from './raw.ts';
import { varyCondition, varyFinding, varyMedicine, varyPatient, varyVaccination } from './variations.ts';

/** A record and its directory. */
export interface VariedRecord {
  readonly name: string;
  readonly patient: Version;
  readonly versions: readonly Version[];
  /** By `Type/id`. */
  readonly directory: ReadonlyMap<string, Json>;
}

/** Returns the thirty records of a seed, varied. */
export function variedRecords(seed: number): VariedRecord[] {
  const ids = new IdSource('11111111-1111-4111-8111-111111111111', Date.parse(TODAY));
  const { records, directory: shared } = generateSandbox({ seed: String(seed), today: TODAY, ids });
  return records.map(({ resources }, index) => {
    const chance = new Chance(seed * 64 + index);
    const directory = new Map(shared.map(({ type, id, resource }) => [`${type}/${id}`, copy(resource)]));
    const versions = resources.flatMap(({ type, id, resource, author }): Version[] => {
      const version = {
        type,
        id,
        version: chance.upTo(3) + 1,
        resource: copy(resource),
        byAi: author.type === 'ai',
      };
      return VARY[type]?.(version, chance, directory) ?? [version];
    });
    const [patient] = versions;
    if (patient === undefined) throw new Error('a record without a Patient');
    const more = additionsTo(patient.id, chance, directory);
    return { name: `${seed}, ${CAST[index]?.story}`, patient, versions: [...versions, ...more], directory };
  });
}

type Vary = (version: Version, chance: Chance, directory: Map<string, Json>) => Version[];

const VARY: Readonly<Record<string, Vary>> = {
  Patient: varyPatient,
  MedicationStatement: varyMedicine,
  MedicationRequest: varyMedicine,
  Condition: varyCondition,
  Observation: varyFinding,
  Immunization: varyVaccination,
};

function copy(resource: unknown): Json {
  return JSON.parse(JSON.stringify(resource));
}

/** Returns a map with changed values. */
export function mapValues<Of, To>(
  map: ReadonlyMap<string, Of>,
  change: (value: Of, key: string) => To,
): Map<string, To> {
  return new Map([...map].map(([key, value]) => [key, change(value, key)]));
}
