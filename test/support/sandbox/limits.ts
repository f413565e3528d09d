/** Limits for values in living people, by LOINC code, and also by age if they depend on it. */

/** Minimum and maximum, both inclusive, in the given unit. */
export interface Limits {
  readonly unit: string;
  readonly from: number;
  readonly to: number;
}

const limits = (unit: string, from: number, to: number): Limits => ({ unit, from, to });

const ADULT: Readonly<Record<string, Limits>> = {
  '8480-6': limits('mm[Hg]', 80, 200),
  '8462-4': limits('mm[Hg]', 45, 125),
  '8867-4': limits('/min', 40, 130),
  '9279-1': limits('/min', 8, 35),
  '8310-5': limits('Cel', 34.5, 41.5),
  '2708-6': limits('%', 70, 100),
  '29463-7': limits('kg', 38, 160),
  '8302-2': limits('cm', 140, 205),
  '39156-5': limits('kg/m2', 15, 45),
  '4548-4': limits('%', 4.5, 13),
  '2345-7': limits('mg/dL', 60, 350),
  '27353-2': limits('mg/dL', 80, 330),
  '2160-0': limits('mg/dL', 0.4, 4),
  '98979-8': limits('mL/min/{1.73_m2}', 12, 140),
  '2823-3': limits('mmol/L', 3.2, 5.6),
  '2951-2': limits('mmol/L', 130, 150),
  '2093-3': limits('mg/dL', 100, 350),
  '2085-9': limits('mg/dL', 25, 100),
  '13457-7': limits('mg/dL', 40, 250),
  '2571-8': limits('mg/dL', 40, 300),
  '3016-3': limits('m[IU]/L', 0.2, 40),
  '6301-6': limits('{INR}', 0.8, 5),
  '718-7': limits('g/dL', 7, 18),
  '1742-6': limits('U/L', 3, 300),
  '6690-2': limits('10*3/uL', 3, 15),
  '777-3': limits('10*3/uL', 120, 450),
  '1988-5': limits('mg/L', 0, 120),
  '3084-1': limits('mg/dL', 2, 13),
  '2132-9': limits('pg/mL', 50, 1_500),
  '2857-1': limits('ng/mL', 0, 40),
  '19080-1': limits('m[IU]/mL', 0, 200_000),
  '44261-6': limits('{score}', 0, 27),
  '72106-8': limits('{score}', 0, 30),
  '72514-3': limits('{score}', 0, 10),
};

const CHILD: Readonly<Record<string, Limits>> = {
  ...ADULT,
  '8480-6': limits('mm[Hg]', 75, 140),
  '8462-4': limits('mm[Hg]', 40, 95),
  '8867-4': limits('/min', 50, 130),
  '29463-7': limits('kg', 10, 95),
  '8302-2': limits('cm', 85, 195),
  '39156-5': limits('kg/m2', 12, 32),
};

const INFANT: Readonly<Record<string, Limits>> = {
  ...CHILD,
  '8867-4': limits('/min', 90, 170),
  '9843-4': limits('cm', 32, 52),
  '29463-7': limits('kg', 2.5, 16),
  '8302-2': limits('cm', 45, 98),
  '39156-5': limits('kg/m2', 11, 22),
};

/** Returns a code's limits at an age in years; undefined for a code without limits. */
export function limitsOf(code: string, age: number): Limits | undefined {
  return (age < 3 ? INFANT : age < 18 ? CHILD : ADULT)[code];
}
