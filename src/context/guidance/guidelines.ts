/**
 * The guidelines on which the clinical rules for contexts are based. Every rule in `illnesses.ts`, `drugs.ts` and `scores.ts`
 * names at least one of them. The date is the date of publication, or of the update against which the rule was checked; for
 * web pages without editions, it is the month in which the rule was checked.
 */

/** A published guideline in one version. */
export interface Guideline {
  readonly title: string;
  readonly publisher: string;
  /** The edition, number or citation by which the publisher identifies the version. */
  readonly version: string;
  /** `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. */
  readonly date: string;
}

const guideline = (publisher: string, title: string, version: string, date: string): Guideline => ({
  title,
  publisher,
  version,
  date,
});

/** Guidelines, by the short name that rules cite. */
export const GUIDELINES = {
  adaStandards: guideline(
    'ADA',
    'Standards of Care in Diabetes',
    '2025, Diabetes Care 48 Suppl 1',
    '2025-01',
  ),
  escHypertension: guideline('ESC', 'Elevated blood pressure and hypertension', '2024', '2024-08-30'),
  escHeartFailure: guideline('ESC', 'Acute and chronic heart failure', '2021, focused update 2023', '2023'),
  escAtrialFibrillation: guideline('ESC', 'Atrial fibrillation', '2024', '2024-08-30'),
  kdigoKidney: guideline('KDIGO', 'Evaluation and management of chronic kidney disease', '2024', '2024-03'),
  ahaCoronary: guideline('AHA/ACC', 'Chronic coronary disease', '2023', '2023-07-20'),
  ahaChestPain: guideline('AHA/ACC', 'Evaluation and diagnosis of chest pain', '2021', '2021-10-28'),
  ahaStroke: guideline('AHA/ASA', 'Prevention of stroke after stroke or TIA', '2021', '2021-05-24'),
  accDyslipidemia: guideline('ACC/AHA', 'Management of dyslipidemia', '2026, Circulation 153', '2026'),
  gina: guideline('GINA', 'Global strategy for asthma management and prevention', '2024', '2024-05'),
  gold: guideline(
    'GOLD',
    'Global strategy for prevention, diagnosis and management of COPD',
    '2025',
    '2024-11',
  ),
  niceThyroid: guideline('NICE', 'Thyroid disease', 'NG145, updated 2023', '2023-10-12'),
  niceDepression: guideline('NICE', 'Depression in adults', 'NG222', '2022-06-29'),
  niceDementia: guideline('NICE', 'Dementia', 'NG97', '2018-06-20'),
  bsgIron: guideline('BSG', 'Iron deficiency anaemia in adults', '2021, Gut 70:2030', '2021-09'),
  niceCobalamin: guideline('NICE', 'Vitamin B12 deficiency in over 16s', 'NG239', '2024-03-06'),
  niceGout: guideline('NICE', 'Gout', 'NG219', '2022-06-09'),
  niceRheumatoid: guideline('NICE', 'Rheumatoid arthritis in adults', 'NG100, updated 2020', '2020-10-12'),
  bsrDmard: guideline(
    'BSR',
    'Prescription and monitoring of conventional synthetic DMARDs',
    '2025',
    '2025-11-17',
  ),
  noggOsteoporosis: guideline(
    'NOGG',
    'Prevention and treatment of osteoporosis',
    '2024, doi 10.1007/s11657-025-01588-3',
    '2025',
  ),
  niceProstate: guideline('NICE', 'Prostate cancer', 'NG131, updated 2021', '2021-12-15'),
  niceObesity: guideline('NICE', 'Overweight and obesity management', 'NG246', '2025-01-14'),
  niceAntenatal: guideline('NICE', 'Antenatal care', 'NG201', '2021-08-19'),
  niceGestational: guideline('NICE', 'Diabetes in pregnancy', 'NG3, updated 2020', '2020-12-16'),
  aapPeriodicity: guideline('AAP/Bright Futures', 'Preventive pediatric health care', '2023', '2023-04'),
  acipChildren: guideline(
    'CDC/ACIP',
    'Immunization schedule for children and adolescents',
    '2025, before the changes of 2026-01-05',
    '2025-01',
  ),
  uspstfPressure: guideline('USPSTF', 'Screening for hypertension in adults', '2021', '2021-04-27'),
  uspstfStatins: guideline('USPSTF', 'Statin use for primary prevention', '2022', '2022-08-23'),
  uspstfDiabetes: guideline('USPSTF', 'Screening for prediabetes and type 2 diabetes', '2021', '2021-08-24'),
  uspstfTobacco: guideline('USPSTF', 'Tobacco smoking cessation in adults', '2021', '2021-01-19'),
  uspstfObesity: guideline(
    'USPSTF',
    'Weight loss to prevent obesity-related morbidity',
    '2018',
    '2018-09-18',
  ),
  niceCirrhosis: guideline('NICE', 'Cirrhosis in over 16s', 'NG50', '2016-07-06'),
  bavenoPortal: guideline('Baveno', 'Portal hypertension', 'VII', '2022'),
  niceHeadache: guideline('NICE', 'Headaches in over 12s', 'CG150', '2012-09-19'),
  fdaMetformin: guideline(
    'FDA',
    'Drug safety communication: metformin and kidney function',
    '2016',
    '2016-04-08',
  ),
  ashAnticoagulation: guideline('ASH', 'Optimal management of anticoagulation', '2018', '2018-11-27'),
  ehraAnticoagulants: guideline(
    'EHRA',
    'Practical guide to NOACs in atrial fibrillation',
    '2021',
    '2021-04-25',
  ),
  spsMonitoring: guideline(
    'NHS SPS',
    'Medicines monitoring: digoxin, ACE inhibitors and angiotensin II receptor blockers',
    'web pages',
    '2026-11',
  ),
  niceNeutropenia: guideline('NICE', 'Neutropenic sepsis', 'CG151', '2012-09-19'),
  niceBipolar: guideline('NICE', 'Bipolar disorder', 'CG185', '2014-09-24'),
  agsBeers: guideline('AGS', 'Beers Criteria', '2023', '2023-05-04'),
  stoppStart: guideline('EuGMS', 'STOPP/START criteria', 'version 3', '2023-05-31'),
  news: guideline('RCP', 'National Early Warning Score', '2', '2017-12-19'),
  niceSepsis: guideline('NICE', 'Suspected sepsis in people aged 16 or over', 'NG253', '2025-11-19'),
  niceMedicines: guideline('NICE', 'Medicines optimisation', 'NG5', '2015-03-04'),
  niceDrugAllergy: guideline('NICE', 'Drug allergy', 'CG183', '2014-09-03'),
  ips: guideline('HL7', 'International Patient Summary', '2.0.0', '2025-10-03'),
  atc: guideline('WHO Collaborating Centre', 'ATC classification', '2025', '2025-01'),
} as const;

/** A guideline's short name. */
export type GuidelineName = keyof typeof GUIDELINES;

/** One or more guidelines, each of which supports part of the rule. */
export type Source = readonly [GuidelineName, ...GuidelineName[]];
