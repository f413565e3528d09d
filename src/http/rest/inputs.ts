/** Translates elements of the resource that was built from an input to the input's member names. */
import type { Issue } from '#src/shared/issue.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** Elements → members of v1; elements of one name have members of one name. */
const MEMBERS: Readonly<Record<string, string>> = {
  abatementDateTime: 'abatement',
  birthDate: 'birth_date',
  category: 'category',
  clinicalStatus: 'clinical_status',
  code: 'code',
  component: 'components',
  derivedFrom: 'derived_from',
  dosage: 'dosage',
  effectiveDateTime: 'effective_at',
  effectivePeriod: 'start',
  gender: 'gender',
  identifier: 'identifiers',
  medicationCodeableConcept: 'code',
  name: 'family',
  note: 'note',
  onsetDateTime: 'onset',
  referenceRange: 'reference_range',
  valueCodeableConcept: 'value_code',
  valueQuantity: 'value',
  valueString: 'value_text',
};

/** Elements of a quantity → the name of the member of an observation or component. */
const QUANTITY = /^Observation\.(?:component\[(\d+)\]\.)?valueQuantity(\.(?:code|unit))?$/;

/**
 * Returns the member from which an element was built; undefined if there is none.
 * @param element path of JSON names
 */
export function nameMember(element: string): string | undefined {
  const [isQuantity, part, unit] = QUANTITY.exec(element) ?? [];
  if (isQuantity !== undefined)
    return `${part === undefined ? '' : `components.${part}.`}${unit === undefined ? 'value' : 'unit'}`;
  if (element === 'DocumentReference.date') return 'date';
  return MEMBERS[/^[A-Z]\w*\.(\w+)/.exec(element)?.[1] ?? ''];
}

/** Runs a write. @throws Refusal invalid (422) that names members where the write's own named elements */
export async function namingInputs<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind !== 'invalid') throw error;
    throw new Refusal('invalid', error.issues.map(renameToMember), { ...error.headers });
  }
}

function renameToMember(issue: Issue): Issue {
  const [, element = '', type = ''] =
    /^[A-Z]\w*\.(\w+)(?:\.ofType\((\w+)\))?/.exec(issue.expression ?? '') ?? [];
  const expression = MEMBERS[element + type.charAt(0).toUpperCase() + type.slice(1)];
  return expression === undefined ? issue : { ...issue, expression };
}
