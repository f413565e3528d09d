/** What drugs are watched by, and which substances belong together. It only ranks and warns: it adds no facts. */
import { type Due, due, KIDNEYS, YEAR } from './due.ts';
import type { Measure } from './measures.ts';

/** Drugs of a kind. */
export interface Drugs {
  /** ATC codes begin so. */
  readonly codes: RegExp;
  readonly words: RegExp;
  readonly watch: readonly Measure[];
  readonly due?: readonly Due[];
}

/** Drugs. */
export const DRUGS: readonly Drugs[] = [
  {
    codes: /^A10/,
    words: /metformin|insulin|gliptin|gliflozin|glutide|gliclazid|glimepirid/i,
    watch: ['hba1c', 'creatinine', 'filtration', 'weight'],
    due: [KIDNEYS],
  },
  {
    codes: /^B01AA/,
    words: /warfarin|phenprocoumon|acenocoumarol/i,
    watch: ['inr', 'hemoglobin', 'creatinine', 'filtration', 'potassium'],
    due: [due('INR', 90, 'inr')],
  },
  {
    codes: /^B01A[EF]/,
    words: /apixaban|rivaroxaban|edoxaban|dabigatran/i,
    watch: ['creatinine', 'filtration', 'hemoglobin', 'weight', 'potassium'],
    due: [KIDNEYS],
  },
  {
    codes: /^C03/,
    words: /furosemide|torasemide|thiazide|spironolacton|eplerenon/i,
    watch: ['potassium', 'sodium', 'creatinine', 'filtration', 'weight', 'pressure'],
    due: [KIDNEYS, due('potassium', YEAR, 'potassium')],
  },
  {
    codes: /^C09/,
    words: /\w+pril\b|\w+sartan\b/i,
    watch: ['potassium', 'creatinine', 'filtration', 'pressure'],
    due: [KIDNEYS, due('potassium', YEAR, 'potassium')],
  },
  { codes: /^C07/, words: /\w+olol\b/i, watch: ['heartRate', 'pressure'] },
  { codes: /^C08/, words: /\w+dipine\b|verapamil|diltiazem/i, watch: ['pressure', 'heartRate'] },
  { codes: /^C10/, words: /\w+statin\b|ezetimib/i, watch: ['ldl', 'creatinine', 'liver'] },
  {
    codes: /^C01AA/,
    words: /digoxin|digitoxin/i,
    watch: ['digoxin', 'potassium', 'creatinine', 'filtration', 'heartRate'],
    due: [KIDNEYS],
  },
  {
    codes: /^H03A/,
    words: /thyroxine|liothyronine/i,
    watch: ['thyrotropin'],
    due: [due('thyrotropin', YEAR * 1.5, 'thyrotropin')],
  },
  {
    codes: /^L04AX03|^L01BA01/,
    words: /methotrexat/i,
    watch: [
      'leukocytes',
      'hemoglobin',
      'creatinine',
      'filtration',
      'liver',
      'platelets',
      'inflammation',
      'potassium',
    ],
    due: [
      due('blood count', 180, 'leukocytes'),
      due('creatinine or filtration', 180, 'creatinine', 'filtration'),
    ],
  },
  {
    codes: /^L0/,
    words: /\w+mab\b|letrozol|tamoxifen|anastrozol/i,
    watch: ['leukocytes', 'platelets', 'hemoglobin', 'creatinine', 'filtration', 'potassium'],
  },
  {
    codes: /^M04/,
    words: /allopurinol|febuxostat/i,
    watch: ['urate', 'creatinine', 'filtration', 'potassium'],
  },
  {
    codes: /^M05B/,
    words: /\w+dron(ate|ic acid)\b|denosumab/i,
    watch: ['creatinine', 'filtration', 'potassium', 'calcium', 'vitaminD'],
  },
  {
    codes: /^M01A|^N02BA/,
    words: /ibuprofen|diclofenac|naproxen|aspirin|celecoxib/i,
    watch: ['creatinine', 'filtration', 'pressure', 'hemoglobin'],
  },
  {
    codes: /^N05AN/,
    words: /lithium/i,
    watch: ['lithium', 'creatinine', 'filtration', 'thyrotropin', 'calcium'],
    due: [due('lithium level', 180, 'lithium'), KIDNEYS],
  },
  {
    codes: /^N06A/,
    words: /sertralin|citalopram|fluoxetin|venlafaxin|mirtazapin/i,
    watch: ['depression', 'sodium'],
  },
  {
    codes: /^N06D/,
    words: /donepezil|rivastigmin|galantamin|memantin/i,
    watch: ['heartRate', 'cognition', 'pressure', 'weight'],
  },
  { codes: /^N02C/, words: /\w+triptan\b/i, watch: ['pressure', 'pain'] },
  {
    codes: /^R0[13]/,
    words: /salbutamol|budesonid|tiotropium|\w+terol\b/i,
    watch: ['saturation', 'heartRate', 'weight'],
  },
  { codes: /^B03B/, words: /cobalamin|folic acid/i, watch: ['hemoglobin', 'cobalamin'] },
];

/** Substances that a record may say in words, and the ATC codes of what has them in it. */
export const CLASSES: readonly (readonly [words: RegExp, codes: RegExp])[] = [
  [/penicillin|amoxicillin|ampicillin/i, /^J01C/],
  [/cephalosporin|cefalosporin|\bcef\w+/i, /^J01D/],
  [/sul(f|ph)onamid|sul(f|ph)a\b|sulfamethoxazol|cotrimoxazol/i, /^J01E/],
  [/macrolid|erythromycin|clarithromycin|azithromycin/i, /^J01FA/],
  [/quinolon|floxacin/i, /^J01M/],
  [/tetracyclin|doxycyclin/i, /^J01A/],
  [/\bnsaid|non-?steroidal|ibuprofen|diclofenac|naproxen/i, /^M01A/],
  [/aspirin|acetylsalicyl|salicylate/i, /^(N02BA|B01AC06|M01A)/],
  [/\bopi(oid|ate)|morphine|codeine/i, /^(N02A|R05DA)/],
  [/\bace[- ]inhibitor|\w+pril\b/i, /^C09[AB]/],
  [/\bstatins?\b|\w+statin\b/i, /^C10AA/],
  [/insulin/i, /^A10A/],
  [/heparin/i, /^B01AB/],
];
