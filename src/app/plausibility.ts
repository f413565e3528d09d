/** Finds implausible values, using the bundled terminology's data on LOINC codes. */
import { openPlausibility } from '#src/clinical/plausible.ts';
import type { FindImplausible } from '#src/shared/implausible.ts';
import { LOINC, loincUnits } from '#src/terminology/bundled/bundled.ts';
import { findMolarMass } from '#src/terminology/molar-masses.ts';

/** Returns the function that finds implausible values. The codes are read on first use. */
export function bundledPlausibility(): FindImplausible {
  let units: ReturnType<typeof loincUnits> | undefined;
  return openPlausibility((code) => {
    units ??= loincUnits();
    const known = units.get(code);
    return (
      known && {
        unit: known.unit,
        isLaboratory: known.category === 'laboratory',
        molarMass: findMolarMass(LOINC, code),
      }
    );
  });
}
