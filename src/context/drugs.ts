/**
 * Drugs, the findings they are monitored by, and the classes that allergies are compared with. The tables rank findings
 * and raise warnings; they add no facts. docs/context.md lists the rules with their guidelines.
 */
import { type Due, due, kidneysDue, potassiumDue, YEAR } from './due.ts';
import type { Source } from './guidelines.ts';
import type { Measure } from './measures.ts';

/** A rule: a group of drugs, and the findings they are monitored by. */
export interface Drugs {
  /** Matches the beginning of their ATC codes. */
  readonly codes: RegExp;
  /** Matches their names in a record. */
  readonly words: RegExp;
  /** Findings, the most important first. */
  readonly watch: readonly Measure[];
  /** Findings that must be repeated. */
  readonly due?: readonly Due[];
  /** The guidelines that name the findings. */
  readonly source: Source;
}

/** The rules for drugs. */
export const DRUGS: readonly Drugs[] = [
  {
    codes: /^A10/,
    words: /metformin|insulin|gliptin|gliflozin|glutide|gliclazid|glimepirid/i,
    watch: ['hba1c', 'creatinine', 'filtration', 'weight'],
    source: ['adaStandards'],
  },
  {
    codes: /^A10BA/,
    words: /metformin/i,
    watch: ['creatinine', 'filtration'],
    due: [kidneysDue('fdaMetformin', 'at least once a year')],
    source: ['fdaMetformin'],
  },
  {
    codes: /^B01AA/,
    words: /warfarin|phenprocoumon|acenocoumarol/i,
    watch: ['inr', 'hemoglobin', 'creatinine', 'filtration'],
    due: [due('INR', 90, ['ashAnticoagulation', 'every 6 to 12 weeks when stable'], 'inr')],
    source: ['ashAnticoagulation', 'escAtrialFibrillation'],
  },
  {
    codes: /^B01A[EF]/,
    words: /apixaban|rivaroxaban|edoxaban|dabigatran/i,
    watch: ['creatinine', 'filtration', 'hemoglobin', 'weight'],
    due: [kidneysDue('ehraAnticoagulants', 'at least once a year')],
    source: ['ehraAnticoagulants'],
  },
  {
    codes: /^C03/,
    words: /furosemide|torasemide|thiazide|spironolacton|eplerenon/i,
    watch: ['potassium', 'sodium', 'creatinine', 'filtration', 'weight', 'pressure'],
    due: [
      kidneysDue('hedisMonitoring', 'at least once a year'),
      potassiumDue('hedisMonitoring', 'at least once a year'),
    ],
    source: ['escHeartFailure', 'hedisMonitoring'],
  },
  {
    codes: /^C09/,
    words: /\w+pril\b|\w+sartan\b/i,
    watch: ['potassium', 'creatinine', 'filtration', 'pressure'],
    due: [
      kidneysDue('hedisMonitoring', 'at least once a year'),
      potassiumDue('hedisMonitoring', 'at least once a year'),
    ],
    source: ['kdigoKidney', 'hedisMonitoring'],
  },
  {
    codes: /^C07/,
    words: /\w+olol\b/i,
    watch: ['heartRate', 'pressure'],
    source: ['escHeartFailure', 'escHypertension'],
  },
  {
    codes: /^C08/,
    words: /\w+dipine\b|verapamil|diltiazem/i,
    watch: ['pressure', 'heartRate'],
    source: ['escHypertension', 'escAtrialFibrillation'],
  },
  {
    codes: /^C10/,
    words: /\w+statin\b|ezetimib/i,
    watch: ['ldl', 'liver'],
    source: ['ahaCholesterol'],
  },
  {
    codes: /^C01AA/,
    words: /digoxin|digitoxin/i,
    watch: ['digoxin', 'potassium', 'creatinine', 'filtration', 'heartRate'],
    due: [kidneysDue('hedisMonitoring', 'at least once a year')],
    source: ['escHeartFailure', 'hedisMonitoring'],
  },
  {
    codes: /^H03A/,
    words: /thyroxine|liothyronine/i,
    watch: ['thyrotropin'],
    due: [due('thyrotropin', YEAR * 1.5, ['niceThyroid', 'once a year when stable'], 'thyrotropin')],
    source: ['niceThyroid'],
  },
  {
    codes: /^L04AX03|^L01BA01/,
    words: /methotrexat/i,
    watch: ['leukocytes', 'hemoglobin', 'creatinine', 'filtration', 'liver', 'platelets', 'inflammation'],
    due: [
      due('blood count', 180, ['bsrDmard', 'at least every 12 weeks'], 'leukocytes'),
      due(
        'creatinine or filtration',
        180,
        ['bsrDmard', 'at least every 12 weeks'],
        'creatinine',
        'filtration',
      ),
    ],
    source: ['bsrDmard', 'niceRheumatoid'],
  },
  {
    codes: /^M04/,
    words: /allopurinol|febuxostat/i,
    watch: ['urate', 'creatinine', 'filtration'],
    source: ['niceGout'],
  },
  {
    codes: /^M05B/,
    words: /\w+dron(ate|ic acid)\b|denosumab/i,
    watch: ['creatinine', 'filtration', 'calcium', 'vitaminD'],
    source: ['noggOsteoporosis'],
  },
  {
    codes: /^M01A|^N02BA/,
    words: /ibuprofen|diclofenac|naproxen|aspirin|celecoxib/i,
    watch: ['creatinine', 'filtration', 'pressure', 'hemoglobin'],
    source: ['stoppStart', 'agsBeers'],
  },
  {
    codes: /^N05AN/,
    words: /lithium/i,
    watch: ['lithium', 'creatinine', 'filtration', 'thyrotropin', 'calcium'],
    due: [
      due('lithium level', 180, ['niceBipolar', 'every 6 months'], 'lithium'),
      kidneysDue('niceBipolar', 'every 6 months'),
    ],
    source: ['niceBipolar'],
  },
  {
    codes: /^N06A/,
    words: /sertralin|citalopram|fluoxetin|venlafaxin|mirtazapin/i,
    watch: ['depression', 'sodium'],
    source: ['niceDepression', 'agsBeers'],
  },
  {
    codes: /^N06D/,
    words: /donepezil|rivastigmin|galantamin|memantin/i,
    watch: ['heartRate', 'cognition'],
    source: ['agsBeers', 'niceDementia'],
  },
  {
    codes: /^R0[13]/,
    words: /salbutamol|budesonid|tiotropium|\w+terol\b/i,
    watch: ['saturation', 'heartRate'],
    source: ['gold', 'gina'],
  },
  {
    codes: /^B03B/,
    words: /cobalamin|folic acid/i,
    watch: ['hemoglobin', 'cobalamin'],
    source: ['niceCobalamin'],
  },
];

/** A class of substances that an allergy may name. */
export interface DrugClass {
  /** Matches the class and its members by name. */
  readonly words: RegExp;
  /** Matches the beginning of the ATC codes of its members. */
  readonly codes: RegExp;
  readonly source: Source;
}

/** NICE CG183 asks for the drug class to avoid; the ATC index says which substances belong to a class. */
const CLASS_SOURCE: Source = ['niceDrugAllergy', 'atc'];

const drugClass = (words: RegExp, codes: RegExp): DrugClass => ({ words, codes, source: CLASS_SOURCE });

/** Classes by which an allergy to one member speaks against the others. */
export const CLASSES: readonly DrugClass[] = [
  drugClass(/penicillin|amoxicillin|ampicillin/i, /^J01C/),
  drugClass(/cephalosporin|cefalosporin|\bcef\w+/i, /^J01D/),
  drugClass(/sul(f|ph)onamid|sul(f|ph)a\b|sulfamethoxazol|cotrimoxazol/i, /^J01E/),
  drugClass(/macrolid|erythromycin|clarithromycin|azithromycin/i, /^J01FA/),
  drugClass(/quinolon|floxacin/i, /^J01M/),
  drugClass(/tetracyclin|doxycyclin/i, /^J01A/),
  drugClass(/\bnsaid|non-?steroidal|ibuprofen|diclofenac|naproxen/i, /^M01A/),
  drugClass(/aspirin|acetylsalicyl|salicylate/i, /^(N02BA|B01AC06|M01A)/),
  drugClass(/\bopi(oid|ate)|morphine|codeine/i, /^(N02A|R05DA)/),
  drugClass(/\bace[- ]inhibitor|\w+pril\b/i, /^C09[AB]/),
  drugClass(/\bstatins?\b|\w+statin\b/i, /^C10AA/),
  drugClass(/insulin/i, /^A10A/),
  drugClass(/heparin/i, /^B01AB/),
];
