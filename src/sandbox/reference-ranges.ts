/** Reference ranges for adults, as a laboratory prints them next to its values. They differ from laboratory to laboratory. */
import type { JsonObject } from '#src/shared/json/json.ts';
import { MEASURES, type MeasureName, UCUM } from './codes.ts';
import type { Sex } from './people.ts';

/** Lower and upper limit, in the measure's unit; one of them may be absent. */
interface Range {
  readonly low?: number;
  readonly high?: number;
}
type BySex = Readonly<Partial<Record<Sex, Range>>>;

const both = (range: Range): BySex => ({ female: range, male: range });

const RANGES: Partial<Record<MeasureName, BySex>> = {
  hba1c: both({ low: 4, high: 6 }),
  glucose: both({ low: 70, high: 99 }),
  creatinine: { female: { low: 0.5, high: 0.95 }, male: { low: 0.65, high: 1.2 } },
  egfr: both({ low: 60 }),
  potassium: both({ low: 3.5, high: 5.1 }),
  sodium: both({ low: 135, high: 145 }),
  cholesterol: both({ high: 200 }),
  hdl: { female: { low: 50 }, male: { low: 40 } },
  ldl: both({ high: 130 }),
  triglycerides: both({ high: 150 }),
  tsh: both({ low: 0.4, high: 4 }),
  inr: both({ low: 0.8, high: 1.2 }),
  hemoglobin: { female: { low: 12, high: 16 }, male: { low: 13.5, high: 17.5 } },
  alt: { female: { high: 35 }, male: { high: 50 } },
  leukocytes: both({ low: 4, high: 10 }),
  platelets: both({ low: 150, high: 400 }),
  crp: both({ high: 5 }),
  urate: { female: { low: 2.4, high: 5.7 }, male: { low: 3.4, high: 7 } },
  cobalamin: both({ low: 200, high: 900 }),
  psa: { male: { high: 4 } },
};

const INTERPRETATIONS = 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation';

/**
 * Returns `referenceRange` and, if the value is outside the range, `interpretation`; an empty object for a measure without a
 * range.
 */
export function judged(name: MeasureName, value: number, sex: Sex): JsonObject {
  const range = RANGES[name]?.[sex];
  if (range === undefined) return {};
  const { unit } = MEASURES[name];
  const limit = (at: number | undefined, end: 'low' | 'high'): JsonObject =>
    at === undefined ? {} : { [end]: { value: at, unit, system: UCUM, code: unit } };
  const { low, high } = range;
  const referenceRange = [{ ...limit(low, 'low'), ...limit(high, 'high') }];
  if (low !== undefined && value < low) return { interpretation: flag('L', 'Low'), referenceRange };
  if (high !== undefined && value > high) return { interpretation: flag('H', 'High'), referenceRange };
  return { referenceRange };
}

function flag(code: string, display: string): JsonObject[] {
  return [{ coding: [{ system: INTERPRETATIONS, code, display }] }];
}
