/** The thirty as a seed makes them: who they are, before anything of them is told. */
import { CAST, type Role } from './cast.ts';
import type { Day } from './days.ts';
import { drawPerson, type Person } from './people.ts';
import type { Random } from './random.ts';

/** One of the cast as drawn. */
export interface Drawn {
  readonly role: Role;
  readonly person: Person;
  /** Of a child, who is drawn before it. */
  readonly parent: Person | undefined;
  /** What else is drawn for this one comes from here. */
  readonly random: Random;
}

/**
 * Draws them one by one, in the order of the cast.
 * @param random of the seed.
 * @param today the day as of which they have their ages.
 * @param patients how many, up to 30.
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
