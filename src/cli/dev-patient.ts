/** Synthetic patients on the command line: the list of those who can sign in, and who is meant by a word. */
import { introduction, patientsToday } from '#src/dev-issuer/people.ts';
import { Failure, MISUNDERSTOOD } from './failure.ts';

type Patient = ReturnType<typeof patientsToday>[number];

/** For `--help`: the patients of a sandbox that holds all of them. */
export function patientsHelp(): string {
  return `\nSynthetic patients who can sign in:\n${linesOf(patientsToday())}`;
}

/**
 * The patient whom a word means: a number in the register (`S-002`, `2`), or a name or a part of one, accents and case
 * aside.
 * @param patients those who can sign in.
 * @throws Failure that lists those who could be meant when it is none, or several.
 */
export function findPatientByName(word: string, patients: readonly Patient[]): Patient {
  if (patients.length === 0) throw new Failure('no synthetic patients: SANDBOX_PATIENTS is 0');
  const [, digits] = /^\s*(?:s-)?(\d{1,3})\s*$/i.exec(word) ?? [];
  const meant =
    digits === undefined
      ? patients.filter(({ name }) => plain(name).includes(plain(word)))
      : patients.filter(({ number }) => Number(number.slice(2)) === Number(digits));
  const [one, ...others] = meant;
  if (one !== undefined && others.length === 0) return one;
  const [fault, choice] =
    one === undefined
      ? ['matches no synthetic patient who can sign in; choose one of these', patients]
      : ['matches several patients; choose one of these', meant];
  throw new Failure(`--patient ${word} ${fault}:\n${linesOf(choice)}`, MISUNDERSTOOD);
}

function linesOf(patients: readonly Patient[]): string {
  return patients.map((patient) => `  ${patient.number}  ${introduction(patient)}`).join('\n');
}

/** Without accents, in lower case; of letters that are no accented ones, those that people type for them. */
function plain(text: string): string {
  const bare = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().trim();
  return bare.replaceAll('ı', 'i').replaceAll('ł', 'l');
}
