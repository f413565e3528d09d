/** Builds a patient's record from the person, the course of the person's health, and the resources added so far. */
import type { ResourceType } from '#src/fhir/types.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { ageOn, type Day } from './days.ts';
import type { Directory } from './directory.ts';
import type { Person } from './people.ts';
import type { Random } from './random.ts';
import type { Author, Authored } from './synthetic.ts';

/** A person's measures over time. Stories change them: illness raises them, treatment lowers them. */
export interface Course {
  /** mm[Hg] */
  systolic: (day: Day) => number;
  /** /min */
  heartRate: (day: Day) => number;
  /** kg */
  weight: (day: Day) => number;
  /** cm */
  height: (day: Day) => number;
  /** mg/dL */
  creatinine: (day: Day) => number;
  /** mg/dL */
  ldl: (day: Day) => number;
  /** % */
  saturation: (day: Day) => number;
}

/** A visit, during which measurements take place. */
export interface Visit {
  readonly reference: string;
  readonly day: Day;
  /** Minutes since midnight. */
  readonly start: number;
}

/** Collects a record's resources. */
export class RecordBuilder {
  readonly resources: Authored[] = [];
  readonly patient: string;
  readonly doctor: string;
  readonly doctorAuthor: Author;
  course: Course;
  /** The patient's own device at home. */
  device: string | undefined;

  /**
   * Creates a builder with an empty record.
   * @param draw returns the next id; the first id is the Patient's
   */
  constructor(
    readonly person: Person,
    readonly random: Random,
    readonly directory: Directory,
    readonly today: Day,
    readonly draw: () => string,
    course: Course,
  ) {
    this.patient = draw();
    this.course = course;
    this.doctor = random.pick(directory.practitioners);
    this.doctorAuthor = { type: 'practitioner', reference: this.doctor, sourceSystem: 'practice-emr' };
  }

  /** Returns the reference to the Patient, which all of the record's resources contain. */
  get subject(): { reference: string } {
    return { reference: `Patient/${this.patient}` };
  }

  /**
   * Adds a resource.
   * @returns `Type/id`
   */
  add(type: ResourceType, author: Author, content: JsonObject, id = this.draw()): string {
    this.resources.push({ type, id, resource: { resourceType: type, id, ...content }, author });
    return `${type}/${id}`;
  }

  /** Returns the patient's age in years on the given day. */
  age(day: Day): number {
    return ageOn(this.person.birth, day);
  }

  ago(days: number): Day {
    return this.today - Math.round(days);
  }
}

/** The author of data from another system. */
export const IMPORT: Author = { type: 'import', sourceSystem: 'hospital-register' };
/** The author of the laboratory's results. */
export const LABORATORY: Author = { type: 'import', sourceSystem: 'laboratory' };
/** The author of values that a device measures at home. */
export const DEVICE: Author = { type: 'device', sourceSystem: 'home-monitor' };
/** The author of the patient's own statements. */
export const SELF: Author = { type: 'patient', sourceSystem: 'patient-app' };
/** The author of texts written by a model. */
export const AI: Author = { type: 'ai', sourceSystem: 'note-summarizer' };
