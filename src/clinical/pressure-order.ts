/** Finds a diastolic blood pressure above the systolic one of the same measurement. */
import type { Implausible } from '#src/shared/implausible.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json.ts';
import { listLoincCodes, readMeasured } from './measured-values.ts';
import { unitText } from './reading/unit.ts';

/** LOINC: systolic and diastolic, in any position, sitting, standing, supine, noninvasive. */
const PAIRS: readonly (readonly [systolic: string, diastolic: string])[] = [
  ['8480-6', '8462-4'],
  ['8459-0', '8453-3'],
  ['8460-8', '8454-1'],
  ['8461-6', '8455-8'],
  ['76534-7', '76535-4'],
];

/** Returns a fault for each diastolic pressure that is above the systolic one beside it, in the same unit. */
export function misorderedPressures(components: readonly Json[]): Implausible[] {
  if (components.length < 2) return [];
  const parts = components.map((part, n) => ({ part: isObject(part) ? part : {}, n }));
  const only = (code: string): { readonly part: JsonObject; readonly n: number } | undefined => {
    const [one, ...others] = parts.filter(({ part }) => listLoincCodes(part.code).includes(code));
    return others.length === 0 ? one : undefined;
  };
  return PAIRS.flatMap(([systolic, diastolic]): Implausible[] => {
    const [above, below] = [only(systolic), only(diastolic)];
    if (above === undefined || below === undefined) return [];
    const [high, low] = [readMeasured(above.part), readMeasured(below.part)];
    if (high === undefined || low === undefined || high.unit !== low.unit) return [];
    if (high.comparator !== undefined || low.comparator !== undefined || low.value <= high.value) return [];
    const unit = unitText(low.unit);
    return [
      {
        code: 'impossible_value',
        element: `Observation.component[${below.n}].valueQuantity`,
        message: `${low.value} ${unit} is above the systolic pressure (${high.value} ${unit})`,
      },
    ];
  });
}
