/** The synthetic patients of a sandbox. Pure: the same seed, ids and day give the same, to the byte. */
import { pulseAtHome, reportPain } from './background.ts';
import { CAST } from './cast.ts';
import { healthyCourse } from './course.ts';
import { type Day, dayOf } from './days.ts';
import { type Directory, makeDirectory } from './directory.ts';
import { type Drawn, drawCast } from './draw-cast.ts';
import { DIRECTORY_SERIES, recordSeries } from './ids.ts';
import { addressOf, humanNames, type Person, patientResource, REGISTER, telecomOf } from './people.ts';
import { Random } from './random.ts';
import { IMPORT, RecordBuilder } from './record.ts';
import type { Authored, SyntheticData, SyntheticRecord } from './synthetic.ts';

/** What determines the content. */
export interface Generation {
  /** Determines everything but ids. */
  readonly seed: string;
  /** `YYYY-MM-DD`; nothing lies on it or later. */
  readonly today: string;
  /** The n-th id of a series: ids come from here alone. */
  readonly ids: { at(index: number, series: string): string };
  /** How many patients, up to 30. */
  readonly patients?: number;
}

/** How many patients there are. */
export const PATIENTS = CAST.length;

/** Returns the whole of it. */
export function generateSandbox(generation: Generation): SyntheticData {
  const { directory, records } = beginSandbox(generation);
  return { directory, records: [...records] };
}

/** Returns the directory, and the records one by one as they are asked for: each takes a few milliseconds to make. */
export function beginSandbox({ seed, today, ids, patients = PATIENTS }: Generation): {
  readonly directory: readonly Authored[];
  readonly records: Iterable<SyntheticRecord>;
} {
  const random = new Random(seed);
  const day = dayOf(today);
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
  // A life that has ended is told as of its last day.
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

/** Every record has something of each kind of author: what a story leaves out. */
function completeAuthors(builder: RecordBuilder): void {
  const there = new Set(builder.resources.map(({ author }) => author.type));
  if (!there.has('device')) pulseAtHome(builder, 4);
  if (!there.has('patient')) reportPain(builder, builder.ago(25), builder.random.int(0, 2));
}

/** The parent, who is a patient, too: the same number in the register and the same e-mail address. */
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
    telecom: telecomOf(parent),
    gender: parent.sex,
    address: [addressOf(parent)],
  });
}
