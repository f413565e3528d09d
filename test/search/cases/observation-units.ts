import { concept, type SearchTable, to, ucum } from '#test/support/search/table.ts';

const UCUM = 'http://unitsofmeasure.org';
const of = { status: 'final', subject: to('Patient/@p'), code: concept('urn:own', 'unit') } as const;

/** Quantities compare in canonical UCUM units: https://hl7.org/fhir/R4/search.html#quantity */
export const observationUnits: SearchTable = {
  topic: 'quantities across units',
  type: 'Observation',
  resources: {
    A: { ...of, valueQuantity: ucum(5.4, 'mg') },
    B: { ...of, valueQuantity: ucum(0.0054, 'g') },
    C: { ...of, valueQuantity: ucum(5.4, 'g') },
    D: { ...of, valueQuantity: { value: 5.4, unit: 'mg' } },
    E: { ...of, valueQuantity: { value: 5.4, unit: 'drops', system: UCUM, code: '[nonsense]' } },
    F: { ...of, valueQuantity: { value: 5.4, comparator: '>', unit: 'mg', system: UCUM, code: 'mg' } },
    G: { ...of, valueQuantity: ucum(37, 'Cel') },
    H: { ...of, valueQuantity: ucum(98.6, '[degF]') },
    I: { ...of, valueQuantity: ucum(-2.5, 'mmol/L') },
    J: { ...of, valueQuantity: ucum(0.1, 'kg/m2') },
    K: { ...of, component: [{ code: concept('urn:own', 'part'), valueQuantity: ucum(1, '[lb_av]') }] },
    L: { ...of, valueQuantity: ucum(5.44, 'mg') },
    M: { ...of, valueQuantity: ucum(48, 'mmol/mol') },
    N: { ...of, valueQuantity: ucum(7.5, 'meq/L') },
  },
  cases: [
    [`value-quantity=5.4|${UCUM}|mg`, 'ABL'],
    [`value-quantity=5.40|${UCUM}|mg`, 'AB'],
    [`value-quantity=0.0054|${UCUM}|g`, 'ABL'],
    [`value-quantity=5400|${UCUM}|ug`, 'AB'],
    [`value-quantity=5.4|${UCUM}|g`, 'C'],
    [`value-quantity=gt5.4|${UCUM}|mg`, 'CFL'],
    [`value-quantity=ge5.4|${UCUM}|mg`, 'ABCFL'],
    [`value-quantity=lt6|${UCUM}|mg`, 'ABFL'],
    [`value-quantity=sa5|${UCUM}|mg`, 'ABCFL'],
    [`value-quantity=eb1|${UCUM}|g`, 'ABL'],
    [`value-quantity=ap5|${UCUM}|mg`, 'ABFL'],
    ['value-quantity=5.4||mg', 'ADL'],
    // Without a unit the number alone counts, as it was written.
    ['value-quantity=5.40', 'ACDE'],
    [`value-quantity=5.4|${UCUM}|[nonsense]`, 'E'],
    [`value-quantity=37|${UCUM}|Cel`, 'GH'],
    [`value-quantity=gt98|${UCUM}|[degF]`, 'GH'],
    [`value-quantity=lt98|${UCUM}|[degF]`, ''],
    [`value-quantity=310|${UCUM}|K`, 'GH'],
    [`value-quantity=-2.5|${UCUM}|mmol/L`, 'I'],
    [`value-quantity=lt0|${UCUM}|umol/mL`, 'I'],
    [`value-quantity=-2500|${UCUM}|umol/L`, 'I'],
    [`value-quantity=0.1|${UCUM}|kg/m2`, 'J'],
    [`value-quantity=100|${UCUM}|g/m2`, 'J'],
    // HbA1c of 48 mmol/mol is 6.5 %, and not 4.8 %; calcium of 7.5 meq/L is 3.75 mmol/L.
    [`value-quantity=lt5.7|${UCUM}|%`, ''],
    [`value-quantity=ge47|${UCUM}|mmol/mol`, 'M'],
    [`value-quantity=0.048|${UCUM}|mol/mol`, 'M'],
    [`value-quantity=gt7|${UCUM}|mmol/L`, ''],
    [`value-quantity=7500|${UCUM}|ueq/L`, 'N'],
    [`component-value-quantity=453.6|${UCUM}|g`, 'K'],
    [`combo-value-quantity=0.4536|${UCUM}|kg`, 'K'],
    // F is more than 5.4 mg, perhaps much more.
    [`combo-value-quantity=gt0.4|${UCUM}|kg`, 'FK'],
    [`value-quantity=ne5.4|${UCUM}|mg`, 'CF'],
  ],
};
