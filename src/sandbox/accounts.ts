/**
 * Lists the synthetic patients who can sign in: living adults. A child is a dependent of the parent whom the child's record
 * names as a RelatedPerson. The accounts depend on the seed, not on a project: every sandbox has a Patient with the same
 * e-mail address and number, but with its own ids and dates.
 */
import { CAST } from './cast.ts';
import { ageOn, dateText, parseDay } from './days.ts';
import { drawCast } from './draw-cast.ts';
import type { Person } from './people.ts';
import { Random } from './random.ts';
import { SEED } from './seed.ts';

/** A patient who can sign in. */
export interface Account {
  /** The patient's number in the register, in `Patient.identifier`, such as S-001. */
  readonly number: string;
  /** The address in `Patient.telecom`, in lower case. */
  readonly email: string;
  /** In Latin letters. */
  readonly name: string;
  readonly given: string;
  readonly family: string;
  /** `YYYY-MM-DD`, for a sandbox that is filled on the given day. */
  readonly birthDate: string;
  /** Age in whole years, for a sandbox that is filled on the given day. */
  readonly age: number;
  /** The patient's conditions, in a few words. */
  readonly about: string;
  readonly sex: Person['sex'];
  /** The account holder's children among the patients. */
  readonly dependents: readonly { readonly name: string; readonly age: number }[];
}

/**
 * Returns a sandbox's accounts.
 * @param today `YYYY-MM-DD`
 * @param patients number of patients in the sandbox, up to 30
 */
export function accounts(today: string, patients = CAST.length): Account[] {
  const day = parseDay(today);
  const cast = [...drawCast(new Random(SEED), day, patients)];
  const called = ({ given, family, birth }: Person) => ({
    name: `${given[0]} ${family[0]}`,
    age: Math.floor(ageOn(birth, day)),
  });
  return cast.flatMap(({ role, person }) => {
    const { number, email, sex } = person;
    if (email === undefined || role.died !== undefined) return [];
    const children = cast.filter(({ parent }) => parent === person);
    const about = role.about ?? role.story;
    return [
      {
        number,
        email,
        ...called(person),
        given: person.given[0],
        family: person.family[0],
        birthDate: dateText(person.birth),
        about,
        sex,
        dependents: children.map((child) => called(child.person)),
      },
    ];
  });
}
