/** Lists spellings of units that people and laboratories use, with the UCUM unit for each. Pure data. */

/**
 * UCUM → spellings that mean only this unit, without blanks and with `u` for micro. Case matters, except in words. `G/L` is
 * left out because in text written in capitals it means grams.
 */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  'meq/L': ['mEq/L', 'mEq/l', 'mval/l'],
  'g/dL': ['gm/dL', 'gm/dl', 'g%'],
  'mg/dL': ['mg%'],
  'mm[Hg]': ['mmHg', 'mmhg', 'mmHG', 'MMHG'],
  s: ['sec', 'sek', 'Sek', 'seconds', 'secs', 'second'],
  'mm/h': ['mm1h', 'mm/1h', 'mm/hr', 'mm/Std'],
  '%': ['pct', 'percent', 'percentage'],
  Cel: ['°C', 'degC', 'degreesC', 'Celsius', 'celsius'],
  '[degF]': ['°F', 'degF', 'degreesF', 'Fahrenheit', 'fahrenheit'],
  '[pH]': ['pH'],
  'mosm/kg': ['mOsm/kg', 'mOsmol/kg', 'mosmol/kg'],
  '{copies}/mL': ['copies/mL', 'copies/ml'],
  '{cells}/uL': ['cells/uL', 'cells/ul', 'Zellen/ul'],
  '{cells}/mm3': ['cells/mm3'],
  '10*3/uL': ['K/uL', 'k/uL', 'Tsd/ul', 'thou/uL'],
  '10*6/uL': ['M/uL', 'mill/uL', 'Mill/ul', 'Mio/ul'],
  '10*9/L': ['G/l', 'E9/L', 'E9/l', 'Gpt/l', 'Gpt/L'],
  '10*12/L': ['T/l', 'T/L', 'E12/L', 'E12/l', 'Tpt/l', 'Tpt/L'],
  'mL/min/{1.73_m2}': [
    'mL/min/1.73m2',
    'ml/min/1.73m2',
    'mL/min/1,73m2',
    'ml/min/1,73m2',
    'mL/min/1.73',
    'mL/min/{1.73_m2}',
  ],
  'mg/g{creat}': ['mg/gKrea', 'mg/gCrea', 'mg/gcreat', 'mg/gcreatinine'],
  'mg/mmol{creat}': ['mg/mmolcreat', 'mg/mmolKrea'],
  '{ratio}': ['ratio', 'Ratio'],
  '{index}': ['index', 'Index'],
  '{INR}': ['INR', '{INR}'],
  '{titer}': ['titer', 'Titer'],
  '{score}': ['score'],
  '/min': [
    'bpm',
    'BPM',
    'beats/min',
    'beats/minute',
    'breaths/min',
    'breaths/minute',
    '/minute',
    'beatsperminute',
    'breathsperminute',
  ],
  min: ['mins', 'minute', 'minutes'],
  h: ['hr', 'hrs', 'hour', 'hours', 'Std'],
  d: ['day', 'days'],
  wk: ['week', 'weeks'],
  mo: ['month', 'months'],
  a: ['yr', 'yrs', 'year', 'years'],
  kg: ['kgs', 'kilo', 'kilos', 'kilogram', 'kilograms'],
  g: ['gram', 'grams'],
  mg: ['milligram', 'milligrams'],
  ug: ['microgram', 'micrograms'],
  m: ['meter', 'meters', 'metre', 'metres'],
  cm: ['centimeter', 'centimeters', 'centimetre', 'centimetres'],
  mm: ['millimeter', 'millimeters', 'millimetre', 'millimetres'],
  L: ['liter', 'liters', 'litre', 'litres'],
  '[lb_av]': ['lb', 'lbs', 'pound', 'pounds'],
  '[in_i]': ['in', 'inch', 'inches'],
  '[ft_i]': ['ft', 'foot', 'feet'],
  'cm[H2O]': ['cmH2O'],
  '{steps}': ['steps'],
  '{count}': ['count'],
  // For serology; UCUM's AU is the astronomical unit.
  "[arb'U]/mL": ['AU/mL', 'AU/ml'],
  "[arb'U]/L": ['AU/L', 'AU/l'],
  ms: ['msec', 'millisecond', 'milliseconds'],
  mL: ['cc', 'milliliter', 'milliliters', 'millilitre', 'millilitres'],
  kcal: ['kilocalorie', 'kilocalories', 'Kcal'],
  'mmol/L': ['mM'],
  'umol/L': ['uM'],
  'nmol/L': ['nM'],
};

/** Spelling → UCUM. */
export const SPELLINGS: ReadonlyMap<string, string> = new Map(
  Object.entries(WRITTEN).flatMap(([ucum, written]) => written.map((each) => [each, ucum] as const)),
);

/** Spellings that are words of three letters or more, in lower case → UCUM. Their case doesn't matter. */
export const WORDS: ReadonlyMap<string, string> = new Map(
  [...SPELLINGS].flatMap(([spelling, ucum]) =>
    /^[a-z]{3,}$/i.test(spelling) ? [[spelling.toLowerCase(), ucum] as const] : [],
  ),
);

/** Text that can mean several units, whatever it means in UCUM → the units to write instead. */
export const AMBIGUOUS: ReadonlyMap<string, readonly string[]> = new Map([
  ['C', ['Cel for degrees Celsius']],
  ['F', ['[degF] for degrees Fahrenheit']],
  ['K', ['Cel for a temperature', '10*3 for thousands']],
  ['G', ['g for grams']],
  ['G/L', ['10*9/L for giga per litre', 'g/L for grams per litre']],
  ['MG', ['mg for milligrams']],
  ['ML', ['mL for millilitres']],
  ['ph', ['[pH] for acidity']],
  ['PH', ['[pH] for acidity']],
  ['mph', ['[mi_i]/h for miles per hour']],
  ['kph', ['km/h for kilometres per hour']],
  ['beats', ['/min for beats per minute', '{beats} for a number of beats']],
  ['breaths', ['/min for breaths per minute', '{breaths} for a number of breaths']],
  ['AU', ["[arb'U] for arbitrary units", '[AU] for allergen units']],
  ['EU/mL', ["[arb'U]/mL for arbitrary units of an ELISA", '[EU]/mL for endotoxin units']],
  ['EU/dL', ["{Ehrlich'U}/dL for Ehrlich units"]],
  ['oz', ['[oz_av] for the weight', '[foz_us] for the volume']],
  ['pt', ['[pt_us] for pints']],
  ['st', ['[stone_av] for stones']],
  ['yd', ['[yd_i] for yards']],
]);

/** Units to suggest when a unit is misspelt. */
export const COMMON_UNITS: readonly string[] = [
  ...WORDS.keys(),
  ...Object.keys(WRITTEN).filter((ucum) => !ucum.startsWith('{')),
  ...[
    'g/L',
    'mg/L',
    'ug/L',
    'ng/mL',
    'pg/mL',
    'ug/mL',
    'ug/dL',
    'mg/g',
    'mmol/mol',
    'kg/m2',
    'cm',
    'mL',
    'L/min',
  ],
  ...['[IU]/L', 'm[IU]/L', 'm[IU]/mL', 'u[IU]/mL', 'U/L', 'kcal', 'ug', 'mg', 'fL', 'pg', 'kPa', 'mL/kg/min'],
];
