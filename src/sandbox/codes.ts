/** The codes that synthetic records use: LOINC with UCUM units, ICD-10 (WHO) and ATC. */

/** LOINC's system. */
export const LOINC = 'http://loinc.org';
/** UCUM's system. */
export const UCUM = 'http://unitsofmeasure.org';
/** The system of ICD-10, in the WHO's edition. */
export const ICD10 = 'http://hl7.org/fhir/sid/icd-10';
/** ATC's system. */
export const ATC = 'http://www.whocc.no/atc';

/** A kind of measurement. */
export interface Measure {
  readonly code: string;
  readonly display: string;
  readonly category: 'laboratory' | 'vital-signs' | 'survey' | 'social-history';
  /** The UCUM unit. */
  readonly unit: string;
  /** Number of digits after the decimal point. */
  readonly digits: number;
}

const measure =
  (category: Measure['category']) =>
  (code: string, display: string, unit: string, digits = 0): Measure => ({
    code,
    display,
    category,
    unit,
    digits,
  });
const lab = measure('laboratory');
const vital = measure('vital-signs');
const survey = measure('survey');

/** Measures, by short name. */
export const MEASURES = {
  systolic: vital('8480-6', 'Systolic blood pressure', 'mm[Hg]'),
  diastolic: vital('8462-4', 'Diastolic blood pressure', 'mm[Hg]'),
  heartRate: vital('8867-4', 'Heart rate', '/min'),
  respiratoryRate: vital('9279-1', 'Respiratory rate', '/min'),
  temperature: vital('8310-5', 'Body temperature', 'Cel', 1),
  saturation: vital('2708-6', 'Oxygen saturation in Arterial blood', '%'),
  weight: vital('29463-7', 'Body weight', 'kg', 1),
  height: vital('8302-2', 'Body height', 'cm', 1),
  bmi: vital('39156-5', 'Body mass index (BMI) [Ratio]', 'kg/m2', 1),
  headCircumference: vital('9843-4', 'Head Occipital-frontal circumference', 'cm', 1),
  hba1c: lab('4548-4', 'Hemoglobin A1c/Hemoglobin.total in Blood', '%', 1),
  glucose: lab('2345-7', 'Glucose [Mass/volume] in Serum or Plasma', 'mg/dL'),
  meanGlucose: lab(
    '27353-2',
    'Glucose mean value [Mass/volume] in Blood Estimated from glycated hemoglobin',
    'mg/dL',
  ),
  creatinine: lab('2160-0', 'Creatinine [Mass/volume] in Serum or Plasma', 'mg/dL', 2),
  egfr: lab(
    '98979-8',
    'Glomerular filtration rate [Volume Rate/Area] in Serum, Plasma or Blood by Creatinine-based formula (CKD-EPI 2021)/1.73 sq M',
    'mL/min/{1.73_m2}',
  ),
  potassium: lab('2823-3', 'Potassium [Moles/volume] in Serum or Plasma', 'mmol/L', 1),
  sodium: lab('2951-2', 'Sodium [Moles/volume] in Serum or Plasma', 'mmol/L'),
  cholesterol: lab('2093-3', 'Cholesterol [Mass/volume] in Serum or Plasma', 'mg/dL'),
  hdl: lab('2085-9', 'Cholesterol in HDL [Mass/volume] in Serum or Plasma', 'mg/dL'),
  ldl: lab('13457-7', 'Cholesterol in LDL [Mass/volume] in Serum or Plasma by calculation', 'mg/dL'),
  triglycerides: lab('2571-8', 'Triglyceride [Mass/volume] in Serum or Plasma', 'mg/dL'),
  tsh: lab('3016-3', 'Thyrotropin [Units/volume] in Serum or Plasma', 'm[IU]/L', 2),
  inr: lab('6301-6', 'INR in Platelet poor plasma by Coagulation assay', '{INR}', 1),
  hemoglobin: lab('718-7', 'Hemoglobin [Mass/volume] in Blood', 'g/dL', 1),
  alt: lab('1742-6', 'Alanine aminotransferase [Enzymatic activity/volume] in Serum or Plasma', 'U/L'),
  leukocytes: lab('6690-2', 'Leukocytes [#/volume] in Blood by Automated count', '10*3/uL', 1),
  platelets: lab('777-3', 'Platelets [#/volume] in Blood by Automated count', '10*3/uL'),
  crp: lab('1988-5', 'C reactive protein [Mass/volume] in Serum or Plasma', 'mg/L', 1),
  urate: lab('3084-1', 'Urate [Mass/volume] in Serum or Plasma', 'mg/dL', 1),
  cobalamin: lab('2132-9', 'Cobalamin (Vitamin B12) [Mass/volume] in Serum or Plasma', 'pg/mL'),
  psa: lab('2857-1', 'Prostate specific Ag [Mass/volume] in Serum or Plasma', 'ng/mL', 2),
  hcg: lab('19080-1', 'Choriogonadotropin [Units/volume] in Serum or Plasma', 'm[IU]/mL'),
  phq9: survey('44261-6', 'Patient Health Questionnaire 9 item (PHQ-9) total score [Reported]', '{score}'),
  mmse: survey('72106-8', 'Total score [MMSE]', '{score}'),
  pain: survey('72514-3', 'Pain severity - 0-10 verbal numeric rating [Score] - Reported', '{score}'),
} as const satisfies Record<string, Measure>;

/** The short name of a measure. */
export type MeasureName = keyof typeof MEASURES;

/** Codes of panels, social history and documents. */
export const LOINC_CODES = {
  bloodPressure: ['85354-9', 'Blood pressure panel with all children optional'],
  smoking: ['72166-2', 'Tobacco smoking status'],
  pregnancy: ['82810-3', 'Pregnancy status'],
  labReport: ['11502-2', 'Laboratory report'],
  summary: ['34133-9', 'Summary of episode note'],
  consultation: ['11488-4', 'Consult note'],
  discharge: ['18842-5', 'Discharge summary'],
} as const;

/** Diagnoses: ICD-10 code → display. */
export const DIAGNOSES = {
  'E11.9': 'Type 2 diabetes mellitus without complications',
  I10: 'Essential (primary) hypertension',
  'J45.0': 'Predominantly allergic asthma',
  'E03.9': 'Hypothyroidism, unspecified',
  'I48.9': 'Atrial fibrillation and atrial flutter, unspecified',
  'J44.9': 'Chronic obstructive pulmonary disease, unspecified',
  'Z34.9': 'Supervision of normal pregnancy, unspecified',
  'F32.1': 'Moderate depressive episode',
  'C50.9': 'Malignant neoplasm: Breast, unspecified',
  C61: 'Malignant neoplasm of prostate',
  'N18.3': 'Chronic kidney disease, stage 3',
  'S52.5': 'Fracture of lower end of radius',
  'S82.6': 'Fracture of lateral malleolus',
  'M81.0': 'Postmenopausal osteoporosis',
  'J30.1': 'Allergic rhinitis due to pollen',
  'G43.0': 'Migraine without aura [common migraine]',
  'E66.9': 'Obesity, unspecified',
  'I50.9': 'Heart failure, unspecified',
  'M06.9': 'Rheumatoid arthritis, unspecified',
  'D51.0': 'Vitamin B12 deficiency anaemia due to intrinsic factor deficiency',
  'E78.0': 'Pure hypercholesterolaemia',
  'M10.9': 'Gout, unspecified',
  'G40.9': 'Epilepsy, unspecified',
  'G30.1': 'Alzheimer disease with late onset',
  'J18.9': 'Pneumonia, unspecified',
  'J03.9': 'Acute tonsillitis, unspecified',
  'Z88.0': 'Personal history of allergy to penicillin',
} as const;

/** A diagnosis's code. */
export type Diagnosis = keyof typeof DIAGNOSES;

/** Substances: ATC code → name. */
export const DRUGS = {
  A10BA02: 'metformin',
  C09AA03: 'lisinopril',
  R03BA02: 'budesonide',
  R03AC02: 'salbutamol',
  H03AA01: 'levothyroxine sodium',
  B01AA03: 'warfarin',
  B01AF02: 'apixaban',
  R03BB04: 'tiotropium bromide',
  B03BB01: 'folic acid',
  N06AB06: 'sertraline',
  L02BG04: 'letrozole',
  C09AA05: 'ramipril',
  M05BA04: 'alendronic acid',
  R06AE07: 'cetirizine',
  N02CC01: 'sumatriptan',
  C07AB07: 'bisoprolol',
  C03CA01: 'furosemide',
  L04AX03: 'methotrexate',
  B03BA01: 'cyanocobalamin',
  C10AA05: 'atorvastatin',
  M04AA01: 'allopurinol',
  N03AX14: 'levetiracetam',
  N06DA02: 'donepezil',
  N02BE01: 'paracetamol',
  J01CA04: 'amoxicillin',
} as const;

/** A substance's code. */
export type Drug = keyof typeof DRUGS;

/** Vaccines: ATC code → name. */
export const VACCINES = {
  J07CA09: 'diphtheria-haemophilus influenzae B-pertussis-poliomyelitis-tetanus-hepatitis B',
  J07AL02: 'pneumococcus, purified polysaccharides antigen, conjugated',
  J07BD52: 'measles, combinations with mumps and rubella, live attenuated',
  J07BB02: 'influenza, inactivated, split virus or surface antigen',
  J07AM51: 'tetanus toxoid, combinations with diphtheria toxoid',
} as const;

/** A vaccine's code. */
export type Vaccine = keyof typeof VACCINES;
