/**
 * Molar masses of the substances that LOINC codes measure, for conversions between mass and amount of substance. A code that
 * isn't listed here has no molar mass; the mass is never guessed from a name.
 */

/**
 * For each substance, its molar mass in g/mol, and codes that measure it by mass or by amount of substance. The masses come
 * from IUPAC's standard atomic weights (abridged, 2021). Substances without a single mass (triglycerides, haemoglobin,
 * proteins) or with several common masses are left out.
 */
const SUBSTANCES: Readonly<Record<string, readonly [mass: number, codes: string]>> = {
  glucose: [180.156, '2345-7 2339-0 1558-6 2340-8 41653-7 14749-6 15074-8 14771-0 5792-7 14743-9 32016-8'],
  creatinine: [113.12, '2160-0 38483-4 2161-8 14682-9 14683-7 59826-8'],
  cholesterol: [386.66, '2093-3 2085-9 13457-7 18262-6 2089-1 14647-2 14646-4 22748-8 69419-0'],
  bilirubin: [584.673, '1975-2 1968-7 14631-6 14629-0 42719-5'],
  urate: [168.112, '3084-1 14933-6'],
  // The mass of the two nitrogen atoms, because only the nitrogen is measured, not the urea.
  ureaNitrogen: [28.014, '3094-0 6299-2'],
  calcium: [40.078, '17861-6 2000-8 49765-1 29265-6 1996-8 1994-3 1995-0 12180-6 17864-0 17863-2 38230-9'],
  sodium: [22.99, '2951-2 2947-0'],
  potassium: [39.098, '2823-3 6298-4'],
  chloride: [35.45, '2075-0 2069-3'],
  // The mass of the acid, which laboratories use for conversions.
  lactate: [90.078, '2524-7 2518-9 32693-4 14118-4'],
  magnesium: [24.305, '19123-9 2601-3'],
  // The mass of phosphorus, to which laboratories refer when they report mg/dL.
  phosphate: [30.974, '2777-1 14879-1'],
  iron: [55.845, '2498-4 14798-3'],
  cobalamin: [1355.38, '2132-9 14685-2'],
  folate: [441.404, '2284-8 14732-2'],
  thyroxine: [776.874, '3024-7 3026-2 14920-3'],
  cortisol: [362.466, '2143-6 14675-3'],
  testosterone: [288.431, '2986-8 14913-8'],
  digoxin: [780.949, '10535-3 14698-5'],
  calcidiol: [400.647, '1989-3 35365-6 14635-7'],
};

/** Molar masses in g/mol, by LOINC code. */
export const MOLAR_MASSES: ReadonlyMap<string, number> = new Map(
  Object.values(SUBSTANCES).flatMap(([mass, codes]) =>
    codes.split(' ').map((code): [string, number] => [code, mass]),
  ),
);

/** Returns the molar mass, in g/mol, of the substance that a LOINC code measures; undefined if the mass is unknown. */
export function findMolarMass(system: string, code: string): number | undefined {
  return system === 'http://loinc.org' ? MOLAR_MASSES.get(code) : undefined;
}
