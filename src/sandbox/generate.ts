/** Generates a sandbox's synthetic patients. Pure: the same seed, ids and day give the same output, byte for byte. */
import { pulseAtHome, reportPain } from './background.ts';
import { CAST } from './cast.ts';
import { healthyCourse } from './course.ts';
import { type Day, parseDay } from './days.ts';
import { type Directory, makeDirectory } from './directory.ts';
import { type Drawn, drawCast } from './draw-cast.ts';
import { DIRECTORY_SERIES, recordSeries } from './ids.ts';
import { humanNames, makeAddress, makeTelecom, type Person, patientResource, REGISTER } from './people.ts';
import { Random } from './random.ts';
import { IMPORT, RecordBuilder } from './record.ts';
import type { Authored, SyntheticData, SyntheticRecord } from './synthetic.ts';

/** The input on which the content depends. */
export interface Generation {
  /** Everything except ids depends on the seed. */
  readonly seed: string;
  /** `YYYY-MM-DD`; all data is dated before this day. */
  readonly today: string;
  /** Returns the n-th id in a series; all ids come from this function. */
  readonly ids: { at(index: number, series: string): string };
  /** Number of patients, up to 30. */
  readonly patients?: number;
}

/** Maximum number of patients. */
export const PATIENTS = CAST.length;

/** Returns the whole content of a sandbox. */
export function generateSandbox(generation: Generation): SyntheticData {
  const { directory, records } = beginSandbox(generation);
  return { directory, records: [...records] };
}

/** Returns the directory, and an iterator that creates the records one by one. Each record takes a few milliseconds. */
export function beginSandbox({ seed, today, ids, patients = PATIENTS }: Generation): {
  readonly directory: readonly Authored[];
  readonly records: Iterable<SyntheticRecord>;
} {
  const random = new Random(seed);
  const day = parseDay(today);
  const drawing = (series: string): (() => string) => {
    let drawn = 0;
    return () => ids.at(drawn++, series);
  };
  const directory = makeDirectory(random.fork('directory'), day, drawing(DIRECTORY_SERIES));
  function* records(): Generator<SyntheticRecord> {
    let index = 0;
    for (const drawn of drawCast(random, day, patients)) {
      yield tellRecord(drawn, directory, day, drawing(recordSeries(index)));
      index += 1;
    }
  }
  return { directory: directory.entries, records: records() };
}

function tellRecord(
  { role, person, parent, random }: Drawn,
  directory: Directory,
  today: Day,
  draw: () => string,
): SyntheticRecord {
  const death = role.died === undefined ? undefined : today - random.int(...role.died);
  // A deceased patient's record is written as of the last day of life.
  const builder = new RecordBuilder(
    person,
    random,
    directory,
    death ?? today,
    draw,
    healthyCourse(person, random),
  );
  builder.add('Patient', IMPORT, patientResource(person, death), builder.patient);
  if (parent !== undefined) addParent(builder, parent);
  role.tell(builder);
  completeAuthors(builder);
  return { patient: builder.patient, resources: builder.resources };
}

/** Adds an entry for each kind of author that a story lacks, so that every record has all kinds. */
function completeAuthors(builder: RecordBuilder): void {
  const there = new Set(builder.resources.map(({ author }) => author.type));
  if (!there.has('device')) pulseAtHome(builder, 4);
  if (!there.has('patient')) reportPain(builder, builder.ago(25), builder.random.int(0, 2));
}

/** Adds the parent as a RelatedPerson, with the register number and e-mail address of the parent's own Patient. */
function addParent(builder: RecordBuilder, parent: Person): void {
  const [code, display] = parent.sex === 'female' ? ['MTH', 'mother'] : ['FTH', 'father'];
  builder.add('RelatedPerson', IMPORT, {
    identifier: [{ use: 'usual', system: REGISTER, value: parent.number }],
    active: true,
    patient: builder.subject,
    relationship: [
      { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-RoleCode', code, display }] },
    ],
    name: humanNames(parent),
    telecom: makeTelecom(parent),
    gender: parent.sex,
    address: [makeAddress(parent)],
  });
}
