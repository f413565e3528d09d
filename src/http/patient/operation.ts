/** Runs FHIR operations on behalf of a person, in the same process. */
import type { ServerResponse } from 'node:http';
import { type Caller, turnKey } from '#src/shared/access/caller.ts';
import type { Answer } from '../answer/answer.ts';
import { parsePrefer } from '../answer/negotiation.ts';
import type { FhirInterface } from '../fhir/interface.ts';
import { everything } from '../fhir/operations/everything.ts';
import { summary } from '../fhir/operations/summary.ts';

/**
 * Runs an operation that returns a patient's summary (IPS), or everything in the record as a Bundle.
 * @throws Refusal
 */
export type PatientOperation = (
  name: 'summary' | 'everything',
  caller: Caller,
  id: string,
  res: ServerResponse,
) => Promise<Answer>;

/** Returns the operations of a FHIR interface. */
export function patientOperations(fhir: FhirInterface): PatientOperation {
  return (name, caller, id, res) => {
    const operation = name === 'summary' ? summary : everything;
    return operation.run({
      service: fhir,
      caller,
      query: new URLSearchParams(),
      header: () => undefined,
      prefer: parsePrefer(undefined),
      budget: fhir.answers.budget(turnKey(caller.calls), res),
      type: 'Patient',
      id,
      inputs: [],
      resource: undefined,
      ignored: [],
    });
  };
}
