/** Converts MedicationRequests to prescriptions of REST v1 (docs/spec/decisions.md, section 4 "Prescriptions"). Pure. */
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { dosage } from '../clinical/reading/words.ts';
import {
  ATC,
  type Decimal,
  listIn,
  numberIn,
  objectIn,
  shownConcept,
  shownNote,
  shownUnit,
  textIn,
} from './elements.ts';
import { medicationConcept, type ShownMedication } from './medication.ts';

/** A prescription in an answer. */
export interface ShownPrescription extends ShownMedication {
  readonly prescribed_on: string | null;
  /** The prescriber's name, or a reference if the prescription doesn't state the name. */
  readonly prescriber: string | null;
  readonly intent: string | null;
  readonly quantity: { readonly value: Decimal | null; readonly unit: string | null } | null;
  readonly refills: Decimal | null;
}

/**
 * Returns a MedicationRequest in the form that v1 shows. The day of prescribing isn't a day on which the medication is taken,
 * so `start` and `end` come from the bounds of the dosage.
 */
export function shownPrescription(request: JsonObject): ShownPrescription {
  const { medicationReference, requester, dosageInstruction, dispenseRequest } = request;
  const concept = shownConcept(medicationConcept(request), ATC);
  const instructions = listIn(dosageInstruction);
  const dosages = instructions.flatMap((each) => dosage(each) ?? []);
  const bounds = instructions.map(readBounds);
  const { quantity, numberOfRepeatsAllowed } = objectIn(dispenseRequest);
  const { display, reference } = objectIn(requester);
  return {
    ...concept,
    display: concept.display ?? textIn(objectIn(medicationReference).display),
    status: textIn(request.status),
    dosage: dosages.length === 0 ? null : dosages.join('\n'),
    start: bounds.flatMap(({ start }) => textIn(start) ?? [])[0] ?? null,
    end: bounds.flatMap(({ end }) => textIn(end) ?? []).at(-1) ?? null,
    note: shownNote(request.note),
    prescribed_on: textIn(request.authoredOn),
    prescriber: textIn(display) ?? textIn(reference),
    intent: textIn(request.intent),
    quantity:
      quantity === undefined
        ? null
        : { value: numberIn(objectIn(quantity).value), unit: shownUnit(quantity) },
    refills: numberIn(numberOfRepeatsAllowed),
  };
}

function readBounds({ timing }: JsonObject): { readonly [Name in 'start' | 'end']?: Json } {
  return objectIn(objectIn(objectIn(timing).repeat).boundsPeriod);
}
