/** Draws the thirty patients from a seed, before their records are written. */
import { CAST, type Role } from './cast.ts';
import type { Day } from './days.ts';
import { drawPerson, type Person } from './people.ts';
import type { Random } from './random.ts';

/** A drawn member of the cast. */
export interface Drawn {
  readonly role: Role;
  readonly person: Person;
  /** The parent, if the person is a child; the parent is drawn first. */
  readonly parent: Person | undefined;
  /** The source of all further random values for this person. */
  readonly random: Random;
}

/**
 * Yields the cast, in order.
 * @param random created from the seed
 * @param today the day to which their ages refer
 * @param patients number of patients, up to 30
 */
export function* drawCast(random: Random, today: Day, patients: number): Generator<Drawn> {
  const people = new Map<string, Person>();
  for (const [index, role] of CAST.slice(0, patients).entries()) {
    const own = random.fork(role.story);
    const parent = role.childOf === undefined ? undefined : people.get(role.childOf);
    const person = drawPerson(role, own, today, `S-${String(index + 1).padStart(3, '0')}`, parent);
    people.set(role.story, person);
    yield { role, person, parent, random: own };
  }
}
