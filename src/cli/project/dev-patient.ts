/** Lists the synthetic patients who can sign in, and finds a patient by number or name, for the command line. */
import { introduction, patientsToday } from '#src/dev-issuer/people.ts';
import { Failure, MISUNDERSTOOD } from '../failure.ts';

type Patient = ReturnType<typeof patientsToday>[number];

/** Returns the part of `--help` that lists the patients in a full sandbox. */
export function patientsHelp(): string {
  return `\nSynthetic patients who can sign in:\n${writeLines(patientsToday())}`;
}

/**
 * Finds a patient by number in the register (`S-002`, `2`), or by a name or part of a name, ignoring accents and case.
 * @param patients the patients who can sign in.
 * @throws Failure that lists the candidates if no patient or several patients match.
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
  throw new Failure(`--patient ${word} ${fault}:\n${writeLines(choice)}`, MISUNDERSTOOD);
}

function writeLines(patients: readonly Patient[]): string {
  return patients.map((patient) => `  ${patient.number}  ${introduction(patient)}`).join('\n');
}

/** Removes accents and case; replaces other special letters with the letters that people type instead. */
function plain(text: string): string {
  const bare = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().trim();
  return bare.replaceAll('ı', 'i').replaceAll('ł', 'l');
}
