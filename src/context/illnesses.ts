/**
 * What illnesses are watched by. It only ranks what a record holds and says what it lacks: it adds no facts.
 * docs/context.md has these tables in words.
 */
import { type Due, due, KIDNEYS, YEAR } from './due.ts';
import type { Measure } from './measures.ts';

/** An illness. */
export interface Illness {
  readonly name: string;
  /** ICD-10 codes begin so. */
  readonly codes: RegExp;
  /** Words that name it, in a record, a task or a question. */
  readonly words: RegExp;
  /** The more telling ones first. */
  readonly watch: readonly Measure[];
  readonly due?: readonly Due[];
}

/** Illnesses. */
export const ILLNESSES: readonly Illness[] = [
  {
    name: 'diabetes',
    codes: /^E1[0-4]/,
    words: /diabet/i,
    watch: [
      'hba1c',
      'glucose',
      'filtration',
      'pressure',
      'ldl',
      'weight',
      'creatinine',
      'albuminuria',
      'bmi',
    ],
    due: [
      due('HbA1c', YEAR, 'hba1c'),
      due('filtration or albumin in urine', YEAR, 'filtration', 'creatinine', 'albuminuria'),
    ],
  },
  {
    name: 'hypertension',
    codes: /^I1[0-5]/,
    words: /hypertens|high blood pressure/i,
    watch: ['pressure', 'potassium', 'filtration', 'creatinine', 'ldl', 'weight', 'heartRate'],
    due: [due('blood pressure', YEAR, 'pressure')],
  },
  {
    name: 'kidney disease',
    codes: /^N1[89]/,
    words: /kidney disease|kidney failure|renal (disease|failure|insuff)|nephropath/i,
    watch: [
      'filtration',
      'creatinine',
      'potassium',
      'pressure',
      'hemoglobin',
      'albuminuria',
      'calcium',
      'sodium',
    ],
    due: [due('filtration', YEAR, 'filtration', 'creatinine'), due('potassium', YEAR, 'potassium')],
  },
  {
    name: 'heart failure',
    codes: /^I50/,
    words: /heart failure|cardiac failure|cardiomyopath/i,
    watch: [
      'weight',
      'pressure',
      'heartRate',
      'potassium',
      'creatinine',
      'filtration',
      'natriureticPeptide',
      'saturation',
      'sodium',
    ],
    due: [KIDNEYS, due('potassium', YEAR, 'potassium')],
  },
  {
    name: 'atrial fibrillation',
    codes: /^I48/,
    words: /atrial fibrillation|atrial flutter/i,
    watch: ['heartRate', 'inr', 'pressure', 'hemoglobin', 'creatinine', 'filtration'],
  },
  {
    name: 'coronary disease',
    codes: /^I2[0-5]/,
    words: /coronary|angina|myocardial|isch(a?)emic heart/i,
    watch: ['ldl', 'pressure', 'heartRate', 'troponin', 'hba1c', 'smoking', 'cholesterol'],
    due: [due('LDL cholesterol', YEAR, 'ldl')],
  },
  {
    name: 'stroke',
    codes: /^(I6[0-9]|G45)/,
    words: /stroke|cerebral infarct|transient isch/i,
    watch: ['pressure', 'ldl', 'inr', 'hba1c', 'heartRate'],
  },
  {
    name: 'high cholesterol',
    codes: /^E78/,
    words: /cholesterol|lipid(a?)emia|hyperlipid|dyslipid/i,
    watch: ['ldl', 'cholesterol', 'hdl', 'triglycerides', 'pressure', 'weight', 'liver'],
    due: [due('LDL cholesterol', YEAR * 2, 'ldl')],
  },
  {
    name: 'asthma',
    codes: /^J4[56]/,
    words: /asthma/i,
    watch: ['saturation', 'spirometry', 'breathing', 'height', 'smoking', 'weight'],
  },
  {
    name: 'COPD',
    codes: /^J4[0-4]/,
    words: /\bcopd\b|chronic obstructive|emphysema/i,
    watch: ['saturation', 'spirometry', 'smoking', 'breathing', 'temperature'],
  },
  {
    name: 'hypothyroidism',
    codes: /^E0[0-7]/,
    words: /thyroid/i,
    watch: ['thyrotropin', 'thyroxine', 'weight', 'heartRate'],
    due: [due('thyrotropin', YEAR * 1.5, 'thyrotropin')],
  },
  {
    name: 'depression',
    codes: /^F3[2-4]/,
    words: /depress/i,
    watch: ['depression', 'anxiety', 'weight'],
  },
  {
    name: 'dementia',
    codes: /^(F0[0-3]|G30)/,
    words: /dementia|alzheimer/i,
    watch: ['cognition', 'weight', 'pressure'],
  },
  {
    name: 'anaemia',
    codes: /^D5|^D6[0-4]/,
    words: /an(a?)emi/i,
    watch: ['hemoglobin', 'cobalamin', 'ferritin', 'folate', 'saturation', 'leukocytes', 'platelets'],
  },
  {
    name: 'gout',
    codes: /^M10/,
    words: /\bgout/i,
    watch: ['urate', 'creatinine', 'inflammation', 'pain', 'filtration'],
  },
  {
    name: 'arthritis',
    codes: /^M0[5-9]/,
    words: /rheumatoid|arthritis/i,
    watch: ['inflammation', 'leukocytes', 'creatinine', 'hemoglobin', 'pain', 'liver', 'platelets'],
  },
  {
    name: 'osteoporosis',
    codes: /^M8[0-2]/,
    words: /osteopor/i,
    watch: ['vitaminD', 'calcium', 'creatinine', 'weight', 'height'],
  },
  { name: 'prostate cancer', codes: /^C61/, words: /prostat/i, watch: ['psa'] },
  {
    name: 'cancer',
    codes: /^(C|D0)/,
    words: /cancer|carcinoma|malignan|lymphoma|leuk(a?)emia|neoplasm/i,
    watch: ['hemoglobin', 'leukocytes', 'platelets', 'weight', 'liver', 'creatinine'],
  },
  { name: 'migraine', codes: /^G43/, words: /migraine|headache/i, watch: ['pain', 'pressure'] },
  {
    name: 'obesity',
    codes: /^E66/,
    words: /obes|overweight/i,
    watch: ['weight', 'bmi', 'hba1c', 'pressure'],
  },
  {
    name: 'pregnancy',
    codes: /^(O|Z3[345])/,
    words: /pregnan|antenatal|prenatal/i,
    watch: ['pregnancy', 'pressure', 'weight', 'hemoglobin', 'glucose'],
  },
  {
    name: 'well-child care',
    codes: /^Z00\.1/,
    words: /well[- ]child|infant|newborn|paediatric|pediatric/i,
    watch: ['weight', 'height', 'head', 'temperature'],
  },
  {
    name: 'prevention',
    codes: /^Z00/,
    words: /prevent|check-?up|screening/i,
    watch: ['pressure', 'ldl', 'weight', 'smoking', 'bmi', 'hba1c', 'glucose', 'heartRate'],
  },
  { name: 'fracture', codes: /^[ST]\d2/, words: /fractur|broken/i, watch: ['pain'] },
  {
    name: 'liver disease',
    codes: /^K7/,
    words: /cirrho|hepatitis|liver disease/i,
    watch: ['liver', 'platelets', 'inr', 'sodium'],
  },
];
