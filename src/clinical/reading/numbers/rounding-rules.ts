/**
 * The number of decimal places for values, by LOINC code and by unit, as in laboratory reports and guidelines; each rule names
 * its source. Units are written as `unitText` writes them.
 */

export interface RoundingRule {
  /** LOINC codes, separated by spaces. */
  readonly codes: string;
  /** Decimal places by unit; the empty unit is for numbers without one. */
  readonly places: Readonly<Record<string, number>>;
  /** The minimum number of significant digits to keep; default: two. A value never becomes zero. */
  readonly significant?: number;
  /** The smallest value that is written as a number; smaller values are written as less than this value (`<0.1`). */
  readonly least?: string;
  /** Decision limits by unit: a value keeps one more decimal place if that keeps it on the same side of the limit. */
  readonly limits?: Readonly<Record<string, readonly number[]>>;
  readonly source: string;
}

const ABIM =
  'digits of the reference ranges: American Board of Internal Medicine, Laboratory Test Reference Ranges, 2024';
const HARMONY =
  'digits of the reference intervals: Berg and Lane, Pathology Harmony, Ann Clin Biochem 2011;48:195-197';
const BLOOD_COUNT =
  'Brereton et al., reporting units of the extended blood count (ICSH), Int J Lab Hematol 2016;38:472-482';
const KDIGO =
  'KDIGO 2012 and 2024 guidelines on chronic kidney disease, reporting of creatinine and filtration';
const ADA = 'American Diabetes Association, Standards of Care in Diabetes: diagnosis and glycemic targets';
const WHO_GROWTH = 'WHO, Training course on child growth assessment, 2008: 0.1 kg and 0.1 cm';

/** Rules by code. If a code's rules don't cover a unit, the unit's own rule applies. */
export const RULES_BY_CODE: readonly RoundingRule[] = [
  {
    codes: '8480-6 8462-4 8478-0 8459-0 8453-3 8460-8 8454-1 8461-6 8455-8 76534-7 76535-4',
    places: { mmHg: 0, kPa: 1 },
    source: 'Muntner et al. (AHA), Hypertension 2019;73:e35-e66: blood pressure in whole mmHg',
  },
  {
    codes: '8867-4 40443-4 68999-2 8889-8 9279-1',
    places: { '/min': 0, bpm: 0, 'beats/min': 0, 'breaths/min': 0, 'beats/minute': 0 },
    source: 'Royal College of Physicians, National Early Warning Score 2, 2017: whole rates',
  },
  {
    codes: '2708-6 59408-5 20564-1 59417-6',
    places: { '%': 0 },
    limits: { '%': [88, 92, 96] },
    source: 'ISO 80601-2-61: whole per cent; limits of the National Early Warning Score 2, 2017',
  },
  {
    codes: '8310-5 8331-1 8328-7 8332-9 8333-7',
    places: { '°C': 1, '°F': 1 },
    limits: { '°C': [35, 38], '°F': [95, 100.4] },
    significant: 3,
    source: 'ISO 80601-2-56: 0.1 °C; limits of the National Early Warning Score 2, 2017, and of fever',
  },
  {
    codes: '29463-7 3141-9 8338-6 8339-4',
    places: { kg: 1, lb: 1, g: 0, oz: 1 },
    significant: 3,
    source: WHO_GROWTH,
  },
  {
    codes: '8302-2 3137-7 8306-3 8308-9 9843-4 8287-5 8280-0 56086-2',
    places: { cm: 1, m: 2, in: 1, ft: 1 },
    source: WHO_GROWTH,
  },
  {
    codes: '39156-5',
    places: { 'kg/m²': 1, '': 1 },
    limits: { 'kg/m²': [18.5, 25, 30, 35, 40] },
    source: 'WHO Technical Report 894, 2000: body mass index to one place',
  },
  {
    codes: '4548-4 17856-6 59261-8 41995-2',
    places: { '%': 1, 'mmol/mol': 0 },
    limits: { '%': [5.7, 6.5], 'mmol/mol': [39, 48] },
    source: 'Hanas and John, consensus statement, Diabetes Care 2010;33:1903-1904; limits of the ADA',
  },
  {
    codes: '2345-7 2339-0 2340-8 41653-7 14749-6 15074-8 1558-6 14743-9 32016-8',
    places: { 'mg/dL': 0, 'mmol/L': 1 },
    limits: { 'mg/dL': [54, 70, 100, 126, 200], 'mmol/L': [3, 3.9, 5.6, 7, 11.1] },
    source: ADA,
  },
  {
    codes: '2160-0 38483-4 14682-9 21232-4',
    places: { 'mg/dL': 2, 'µmol/L': 0 },
    source: KDIGO,
  },
  {
    codes: '98979-8 33914-3 62238-1 88293-6 88294-4 48642-3 48643-1 69405-9 77147-7 50210-4',
    places: { 'mL/min/1.73 m²': 0, 'mL/min': 0 },
    limits: { 'mL/min/1.73 m²': [15, 30, 45, 60, 90], 'mL/min': [15, 30, 45, 60, 90] },
    source: KDIGO,
  },
  {
    codes: '9318-7 14959-1 32294-1 30000-4',
    places: { 'mg/g': 0, 'mg/g creat': 0, 'mg/mmol': 1, 'mg/mmol creat': 1 },
    limits: { 'mg/g': [30, 300], 'mg/g creat': [30, 300], 'mg/mmol': [3, 30], 'mg/mmol creat': [3, 30] },
    source: KDIGO,
  },
  {
    codes: '2823-3 6298-4',
    places: { 'mmol/L': 1, 'mEq/L': 1 },
    limits: { 'mmol/L': [2.5, 3.5, 5.5, 6, 6.5], 'mEq/L': [2.5, 3.5, 5.5, 6, 6.5] },
    source: `${HARMONY}; limits of the UK Kidney Association, Hyperkalaemia, 2023`,
  },
  {
    codes: '2951-2 2947-0 2075-0 2069-3 2028-9 1963-8 20565-8',
    places: { 'mmol/L': 0, 'mEq/L': 0 },
    source: HARMONY,
  },
  {
    codes: '17861-6 2000-8 49765-1 2777-1 14879-1 19123-9 2601-3',
    places: { 'mmol/L': 2, 'mg/dL': 1 },
    source: HARMONY,
  },
  { codes: '3094-0 6299-2 22664-7', places: { 'mg/dL': 0, 'mmol/L': 1 }, source: HARMONY },
  {
    codes: '2093-3 14647-2 13457-7 18262-6 2089-1 22748-8 2571-8 14927-8',
    places: { 'mg/dL': 0, 'mmol/L': 1 },
    limits: { 'mmol/L': [1.4, 1.7, 1.8, 2.6, 3, 5], 'mg/dL': [55, 70, 100, 116, 150, 190, 200] },
    source: 'Nordestgaard et al. (EAS and EFLM), Eur Heart J 2016;37:1944-1958; goals of ESC and EAS, 2019',
  },
  {
    codes: '2085-9 14646-4',
    places: { 'mg/dL': 0, 'mmol/L': 2 },
    source: 'Nordestgaard et al. (EAS and EFLM), Eur Heart J 2016;37:1944-1958',
  },
  {
    codes: '6301-6 34714-6',
    places: { '': 1, INR: 1 },
    limits: { '': [2, 3, 5, 8], INR: [2, 3, 5, 8] },
    source: 'Keeling et al. (BCSH), Oral anticoagulation with warfarin, Br J Haematol 2011;154:311-324',
  },
  {
    codes: '718-7 20509-6 30313-1',
    places: { 'g/dL': 1, 'g/L': 0, 'mmol/L': 1 },
    limits: { 'g/dL': [7, 8], 'g/L': [70, 80] },
    source: BLOOD_COUNT,
  },
  {
    codes: '6690-2 26464-8 751-8 26499-4 731-0 26474-7',
    places: { '10³/µL': 1, '10⁹/L': 1 },
    limits: { '10³/µL': [0.5, 1, 1.5], '10⁹/L': [0.5, 1, 1.5] },
    source: BLOOD_COUNT,
  },
  { codes: '777-3 26515-7', places: { '10³/µL': 0, '10⁹/L': 0 }, source: BLOOD_COUNT },
  { codes: '789-8 26453-1', places: { '10⁶/µL': 2, '10¹²/L': 2 }, source: BLOOD_COUNT },
  {
    codes: '4544-3 20570-8 787-2 30428-7 785-6 28539-5 786-4 28540-3 788-0 30385-9 21000-5',
    places: { '%': 1, fL: 1, pg: 1, 'g/dL': 1, 'g/L': 0, 'L/L': 3 },
    source: BLOOD_COUNT,
  },
  {
    codes: '1742-6 1920-8 2324-2 6768-6 2532-0 14804-9 2157-6 3040-3 1798-8',
    places: { 'U/L': 0, 'µkat/L': 2 },
    source: ABIM,
  },
  { codes: '1975-2 14631-6 1968-7', places: { 'mg/dL': 1, 'µmol/L': 0 }, source: HARMONY },
  {
    codes: '1751-7 2862-1 61151-7 61152-5 54347-0 2885-2 10834-0',
    places: { 'g/dL': 1, 'g/L': 0 },
    source: HARMONY,
  },
  { codes: '4537-7 30341-2', places: { 'mm/h': 0, 'mm/hr': 0 }, source: ABIM },
  { codes: '3016-3 11580-8', places: { 'mIU/L': 2, 'µIU/mL': 2, 'mU/L': 2 }, source: ABIM },
  { codes: '2276-4', places: { 'µg/L': 0, 'ng/mL': 0 }, limits: { 'µg/L': [15, 30] }, source: ABIM },
  { codes: '3084-1 14933-6', places: { 'mg/dL': 1, 'µmol/L': 0, 'mmol/L': 2 }, source: ABIM },
  { codes: '33762-6 30934-4 42637-9', places: { 'pg/mL': 0, 'ng/L': 0 }, source: ABIM },
  {
    codes: '2744-1 11558-4 2746-6',
    places: { '': 2 },
    significant: 3,
    source: `${ABIM}: pH of blood to two places`,
  },
  { codes: '5803-2 2756-5', places: { '': 1 }, source: `${ABIM}: pH of urine to one place` },
  { codes: '5811-5 2965-2', places: { '': 3 }, significant: 4, source: ABIM },
  {
    codes: '72514-3 38208-5 38221-8 44261-6 55758-7 70274-6 69737-5 72106-8 72172-0 52491-8 9269-2 75626-2',
    places: { '': 1 },
    significant: 0,
    least: '0.1',
    source: 'the definitions of these scales, which have whole points: one place says that a value has none',
  },
  {
    codes: '55423-8 41950-7',
    places: { '': 0, steps: 0, '/d': 0 },
    significant: 0,
    source: 'steps are whole',
  },
];

/** Rules by unit, for codes without a rule: how most values in the unit are reported. */
export const RULES_BY_UNIT: readonly Omit<RoundingRule, 'codes'>[] = [
  { places: { mmHg: 0 }, source: 'as blood pressure' },
  { places: { '/min': 0 }, source: 'as heart rate' },
  { places: { '°C': 1, '°F': 1 }, significant: 3, source: 'as body temperature' },
  { places: { kg: 1, lb: 1, cm: 1, in: 1 }, significant: 3, source: WHO_GROWTH },
  { places: { 'kg/m²': 1 }, source: 'as body mass index' },
  { places: { 'mL/min': 0, 'mL/min/1.73 m²': 0 }, source: KDIGO },
  { places: { 'U/L': 0, 'g/dL': 1, 'g/L': 1, '%': 1 }, source: ABIM },
  { places: { 'mmol/L': 2, 'mEq/L': 1, 'mg/dL': 2, 'µmol/L': 1, 'ng/mL': 2, 'µg/L': 2 }, source: ABIM },
  {
    places: { 'kU/L': 2 },
    limits: { 'kU/L': [0.1, 0.35, 0.7, 3.5, 17.5, 50, 100] },
    source:
      'specific immunoglobulin E by the WHO International Standard 11/234: limits of its classes 0 to 6',
  },
  { places: { fL: 1, pg: 1, '10³/µL': 1, '10⁹/L': 1, '10⁶/µL': 2, '10¹²/L': 2 }, source: BLOOD_COUNT },
];
