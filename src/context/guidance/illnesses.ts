/**
 * Rules for illnesses, and the findings by which they are monitored. The table ranks findings and reports overdue ones; it
 * doesn't add facts. docs/context.md lists the rules with their guidelines.
 */
import { type Due, due, kidneysDue, potassiumDue, YEAR } from './due.ts';
import type { Source } from './guidelines.ts';
import type { Measure } from './measures.ts';

/** A rule: an illness, and the findings by which it is monitored. */
export interface Illness {
  readonly name: string;
  /** Matches the beginning of the illness's ICD-10 codes. */
  readonly codes: RegExp;
  /** Matches the illness's names in a record, a task or a question. */
  readonly words: RegExp;
  /** The findings, the most important first. */
  readonly watch: readonly Measure[];
  /** Findings that must be repeated regularly. */
  readonly due?: readonly Due[];
  /** The guidelines that name the findings. */
  readonly source: Source;
}

/** The rules for illnesses. */
export const ILLNESSES: readonly Illness[] = [
  {
    name: 'diabetes',
    codes: /^E1[0-4]/,
    words: /(?<!pre[- ]?)diabet(?!es insipidus)/i,
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
    source: ['adaStandards'],
    due: [
      due('HbA1c', YEAR, ['adaStandards', 'at least twice a year'], 'hba1c'),
      due('filtration', YEAR, ['adaStandards', 'at least once a year'], 'filtration', 'creatinine'),
      due('albumin in urine', YEAR, ['adaStandards', 'at least once a year'], 'albuminuria'),
    ],
  },
  {
    name: 'hypertension',
    codes: /^I1[0-5]/,
    words:
      /(?<!(?:pulmonary(?: arterial| venous)?|portal|ocular|intracranial) )hypertens(?!ion,? (?:pulmonary|portal|ocular|intracranial))|high blood pressure/i,
    watch: ['pressure', 'potassium', 'filtration', 'creatinine', 'ldl', 'weight', 'heartRate'],
    source: ['escHypertension'],
    due: [due('blood pressure', YEAR, ['escHypertension', 'at least once a year'], 'pressure')],
  },
  {
    name: 'kidney disease',
    codes: /^N1[89]/,
    words: /kidney disease|(?<!acute )(?:kidney failure|renal (?:failure|insuff))|renal disease|nephropath/i,
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
    source: ['kdigoKidney'],
    due: [
      due('filtration', YEAR, ['kdigoKidney', 'at least once a year'], 'filtration', 'creatinine'),
      due('albumin in urine', YEAR, ['kdigoKidney', 'at least once a year'], 'albuminuria'),
    ],
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
    source: ['escHeartFailure'],
    due: [
      kidneysDue('escHeartFailure', 'at least every 6 months'),
      potassiumDue('escHeartFailure', 'at least every 6 months'),
    ],
  },
  {
    name: 'atrial fibrillation',
    codes: /^I48/,
    words: /atrial fibrillation|atrial flutter/i,
    watch: ['heartRate', 'inr', 'pressure', 'hemoglobin', 'creatinine', 'filtration'],
    source: ['escAtrialFibrillation'],
  },
  {
    name: 'coronary disease',
    codes: /^I2[0-5]/,
    words: /coronary|angina|myocardial|isch(a?)emic heart/i,
    watch: ['ldl', 'pressure', 'heartRate', 'troponin', 'hba1c', 'smoking', 'cholesterol'],
    source: ['ahaCoronary', 'ahaChestPain'],
    due: [due('LDL cholesterol', YEAR, ['ahaCoronary', 'every 3 to 12 months'], 'ldl')],
  },
  {
    name: 'stroke',
    // Infarctions and transient ischaemia only; the guideline doesn't cover haemorrhages (I60 to I62).
    codes: /^(I6[34]|I69\.[34]|G45(?!\.4))/,
    words: /(?<!heat |h(?:a?)emorrhagic )\bstroke(?! volume)|cerebral infarct|transient (?:cerebral )?isch/i,
    watch: ['pressure', 'ldl', 'inr', 'hba1c', 'heartRate'],
    source: ['ahaStroke'],
  },
  {
    name: 'high cholesterol',
    codes: /^E78/,
    words: /cholesterol|lipid(a?)emia|hyperlipid|dyslipid/i,
    watch: ['ldl', 'cholesterol', 'hdl', 'triglycerides', 'pressure', 'weight', 'transaminases', 'liver'],
    source: ['accDyslipidemia'],
    due: [due('LDL cholesterol', YEAR * 2, ['accDyslipidemia', 'every 6 to 12 months'], 'ldl')],
  },
  {
    name: 'asthma',
    codes: /^J4[56]/,
    words: /asthma/i,
    watch: ['saturation', 'spirometry', 'breathing', 'height', 'smoking', 'weight'],
    source: ['gina'],
  },
  {
    name: 'COPD',
    codes: /^J4[1-4]/,
    words: /\bcopd\b|chronic obstructive|emphysema/i,
    watch: ['saturation', 'spirometry', 'smoking', 'breathing'],
    source: ['gold'],
  },
  {
    name: 'hypothyroidism',
    codes: /^(E0[013]|E06\.3|E89\.0)/,
    words: /(?<!subclinical )hypothyroid|myx(o?)edema|hashimoto/i,
    watch: ['thyrotropin', 'thyroxine'],
    source: ['niceThyroid'],
    due: [due('thyrotropin', YEAR * 1.5, ['niceThyroid', 'once a year when stable'], 'thyrotropin')],
  },
  {
    // The interval depends on the treatment, so the illness itself makes nothing due.
    name: 'hyperthyroidism',
    codes: /^E05/,
    words: /hyperthyroid|thyrotoxic|\bgraves\b/i,
    watch: ['thyrotropin', 'thyroxine'],
    source: ['niceThyroid'],
  },
  {
    name: 'depression',
    codes: /^F3[2-4]/,
    words: /(?<!respiratory |marrow |\bST[- ](?:segment )?)depress/i,
    watch: ['depression', 'anxiety'],
    source: ['niceDepression'],
  },
  {
    name: 'dementia',
    codes: /^(F0[0-3]|G30)/,
    words: /dementia|alzheimer/i,
    watch: ['cognition'],
    source: ['niceDementia'],
  },
  {
    name: 'anaemia',
    codes: /^D5|^D6[0-4]/,
    words: /an(a?)emi/i,
    watch: ['hemoglobin', 'cobalamin', 'ferritin', 'folate', 'leukocytes', 'platelets'],
    source: ['bsgIron', 'niceCobalamin'],
  },
  {
    name: 'gout',
    codes: /^M10/,
    words: /\bgout/i,
    watch: ['urate', 'creatinine', 'filtration'],
    source: ['niceGout'],
  },
  {
    name: 'rheumatoid arthritis',
    codes: /^M0[56]/,
    words: /rheumatoid(?! factor)/i,
    watch: [
      'inflammation',
      'leukocytes',
      'creatinine',
      'hemoglobin',
      'pain',
      'transaminases',
      'liver',
      'platelets',
    ],
    source: ['niceRheumatoid', 'bsrDmard'],
  },
  {
    name: 'osteoporosis',
    codes: /^M8[0-2]/,
    words: /osteopor/i,
    watch: ['vitaminD', 'calcium', 'creatinine', 'weight', 'height'],
    source: ['noggOsteoporosis'],
  },
  {
    name: 'prostate cancer',
    codes: /^C61/,
    words:
      /prostat(?:e|ic) (?:cancer|(?:adeno)?carcinoma)|(?:cancer|carcinoma|malignan\w*) (?:\w+ )*?(?:of )?(?:the )?prostat/i,
    watch: ['psa'],
    source: ['niceProstate'],
  },
  { name: 'migraine', codes: /^G43/, words: /migraine|headache/i, watch: ['pain'], source: ['niceHeadache'] },
  {
    name: 'obesity',
    codes: /^E66/,
    words: /obes|overweight/i,
    watch: ['weight', 'bmi', 'hba1c', 'pressure'],
    source: ['niceObesity'],
  },
  {
    name: 'pregnancy',
    codes: /^(O|Z3[345])/,
    words: /pregnan|antenatal|prenatal/i,
    watch: ['pregnancy', 'pressure', 'weight', 'hemoglobin', 'glucose'],
    source: ['niceAntenatal', 'niceGestational'],
  },
  {
    name: 'well-child care',
    codes: /^Z00\.1/,
    words: /well[- ]child|infant|newborn|paediatric|pediatric/i,
    watch: ['weight', 'height', 'head'],
    source: ['aapPeriodicity'],
  },
  {
    name: 'prevention',
    codes: /^Z00/,
    words: /prevent|check-?up|screening/i,
    watch: ['pressure', 'ldl', 'weight', 'smoking', 'bmi', 'hba1c', 'glucose'],
    source: ['uspstfPressure', 'uspstfStatins', 'uspstfObesity', 'uspstfTobacco', 'uspstfDiabetes'],
  },
  {
    name: 'liver disease',
    codes: /^K7/,
    words: /cirrho|hepatitis|liver disease/i,
    watch: ['transaminases', 'liver', 'platelets', 'inr', 'sodium'],
    source: ['niceCirrhosis', 'bavenoPortal'],
  },
];

/** Matches problems that name an illness that the patient doesn't have, because it is a relative's illness or only a risk. */
const NOT_OWN = /\bfamily history\b|\brisk (?:of|for)\b|\bscreening for\b/i;

/** Returns the rules for a problem, given its name in the record and its ICD-10 codes. */
export function findIllnesses(name: string, codes: readonly string[] = []): Illness[] {
  return ILLNESSES.filter(
    (illness) =>
      (illness.words.test(name) && !NOT_OWN.test(name)) || codes.some((code) => illness.codes.test(code)),
  );
}
