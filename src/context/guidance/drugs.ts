/**
 * Rules for drugs: the findings by which they are monitored, and the classes with which allergies are compared. The tables
 * rank findings and raise warnings; they don't add facts. docs/context.md lists the rules with their guidelines.
 */
import { type Basis, type Due, due, HALF_YEAR, kidneysDue, potassiumDue, YEAR } from './due.ts';
import type { Source } from './guidelines.ts';
import type { Measure } from './measures.ts';

/** A rule: a group of drugs, and the findings by which they are monitored. */
export interface Drugs {
  /** Matches the beginning of the drugs' ATC codes. */
  readonly codes: RegExp;
  /** Matches the drugs' names in a record. */
  readonly words: RegExp;
  /** The findings, the most important first. */
  readonly watch: readonly Measure[];
  /** Findings that must be repeated regularly. */
  readonly due?: readonly Due[];
  /** The guidelines that name the findings. */
  readonly source: Source;
}

/** Returns a pattern for the names of drugs, excluding creams, ointments and eye drops, which need no blood tests. */
const systemic = (names: string): RegExp =>
  new RegExp(`^(?!.*\\b(?:topical|cream|ointment|eye|ophthalmic)\\b).*(?:${names})`, 'i');

/** The findings that monitor antirheumatic drugs, and when they are due. */
const DMARD_FINDINGS: readonly Measure[] = [
  ...(['leukocytes', 'hemoglobin', 'creatinine', 'filtration', 'transaminases', 'albumin'] as const),
  ...(['liver', 'platelets', 'inflammation'] as const),
];
const DMARD_DUE: readonly [number, Basis] = [
  YEAR,
  ['bsrDmard', 'every 6 months when stable, for some drugs longer; review at least once a year'],
];

const LITHIUM_DUE: readonly [number, Basis] = [HALF_YEAR, ['niceBipolar', 'every 6 months']];

/** The rules for drugs. */
export const DRUGS: readonly Drugs[] = [
  {
    codes: /^A10/,
    words: /metformin|insulin|gliptin|gliflozin|(?<!tedu)glutide|gliclazid|glimepirid/i,
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
    source: ['escHeartFailure'],
  },
  {
    codes: /^C09/,
    words: /\w+pril\b|\w+sartan\b/i,
    watch: ['potassium', 'creatinine', 'filtration', 'pressure'],
    due: [
      kidneysDue('spsMonitoring', 'at least once a year'),
      potassiumDue('spsMonitoring', 'at least once a year'),
    ],
    source: ['kdigoKidney', 'spsMonitoring'],
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
    words: /\b(?:ator|ceri|flu|lo|pita|pra|rosu|sim)vastatin|ezetimib/i,
    watch: ['ldl', 'transaminases', 'liver'],
    source: ['accDyslipidemia'],
  },
  {
    codes: /^C01AA/,
    words: /digoxin|digitoxin/i,
    watch: ['digoxin', 'potassium', 'creatinine', 'filtration', 'heartRate'],
    due: [
      kidneysDue('spsMonitoring', 'at least once a year'),
      potassiumDue('spsMonitoring', 'at least once a year'),
    ],
    source: ['escHeartFailure', 'spsMonitoring'],
  },
  {
    codes: /^H03A/,
    words: /thyroxine|liothyronine/i,
    watch: ['thyrotropin'],
    due: [due('thyrotropin', YEAR * 1.5, ['niceThyroid', 'once a year when stable'], 'thyrotropin')],
    source: ['niceThyroid'],
  },
  {
    codes: /^H03B/,
    words: /carbimazol|thiamazol|methimazol|propylthiouracil/i,
    watch: ['thyrotropin', 'thyroxine'],
    due: [
      due('thyrotropin', 100, ['niceThyroid', 'every 6 weeks, every 3 months when in range'], 'thyrotropin'),
    ],
    source: ['niceThyroid'],
  },
  {
    codes: /^L04A(X0[13]|D0[12]|A06|A13|K01)/,
    words: systemic('methotrexat|azathioprin|leflunomid|mycophenol|c[iy]closporin|tacrolimus'),
    watch: DMARD_FINDINGS,
    due: [
      due('blood count', ...DMARD_DUE, 'leukocytes'),
      due('creatinine or filtration', ...DMARD_DUE, 'creatinine', 'filtration'),
      due('ALT or AST', ...DMARD_DUE, 'transaminases'),
      due('albumin in blood', ...DMARD_DUE, 'albumin'),
    ],
    source: ['bsrDmard', 'niceRheumatoid'],
  },
  {
    // The guideline requires no routine tests after the first year, so no test becomes due.
    codes: /^A07EC01/,
    words: /sul(?:f|ph)asalazin/i,
    watch: DMARD_FINDINGS,
    source: ['bsrDmard'],
  },
  {
    codes: /^L01/,
    words: /chemotherap|cyclophosphamid|doxorubicin|docetaxel|paclitaxel|(?:cis|carbo|oxali)platin/i,
    watch: ['leukocytes', 'platelets', 'hemoglobin', 'creatinine', 'transaminases', 'inflammation'],
    source: ['niceNeutropenia'],
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
    watch: ['lithium', 'creatinine', 'filtration', 'thyrotropin', 'calcium', 'weight'],
    due: [
      due('lithium level', ...LITHIUM_DUE, 'lithium'),
      due('creatinine or filtration', ...LITHIUM_DUE, 'creatinine', 'filtration'),
      due('thyrotropin', ...LITHIUM_DUE, 'thyrotropin'),
      due('calcium', ...LITHIUM_DUE, 'calcium'),
      due('weight or BMI', ...LITHIUM_DUE, 'weight', 'bmi'),
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
    codes: /^R03/,
    words: /salbutamol|tiotropium|\b(?:salme|formo|indaca|oloda|vilan|feno|(?:lev)?albu)terol\b/i,
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
  /** Matches the beginning of its members' ATC codes. */
  readonly codes: RegExp;
  readonly source: Source;
}

/** NICE CG183 requires that the drug class to avoid is recorded; the ATC index says which substances belong to a class. */
const CLASS_SOURCE: Source = ['niceDrugAllergy', 'atc'];

const drugClass = (words: RegExp, codes: RegExp): DrugClass => ({ words, codes, source: CLASS_SOURCE });

/**
 * Classes of drugs, in English, French, German, Norwegian and Spanish. An allergy to one member is a reason not to give the
 * others.
 */
export const CLASSES: readonly DrugClass[] = [
  drugClass(/p[eé]ni[cz]ill?in|\w+[cz]ill?in[aeo]?\b|co-?amoxiclav/i, /^J01C/),
  // J01D also contains monobactams (J01DF), carbapenems (J01DH) and faropenem (J01DI03).
  drugClass(
    /c[eé](?:ph|f)alosporin|\bc[eé]f\w+|\bceph(?:alexin|azolin|alothin|radine)/i,
    /^J01D(?:[BCDE]|I(?!03))/,
  ),
  // J01EA is trimethoprim without a sulfonamide.
  drugClass(/sul(f|ph)(?:on)?amid|sul(f|ph)a\b|sul(f|ph)ameth?oxazol|co-?trimoxazol/i, /^J01E[B-E]/),
  drugClass(/ma[ck]rolid|[eé]r[iy]th?rom[iy]cin|(?:clar|az)[iy]th?rom[iy]cin/i, /^J01FA/),
  drugClass(/quinolon|chinolon|floxacin/i, /^J01M/),
  drugClass(/(?:t[eé]tra|dox[iy]|mino|l[iy]me|tige)(?:c[iy]c|zy[ck])lin/i, /^J01A/),
  // M01AX also contains glucosamine, chondroitin and others that aren't NSAIDs.
  drugClass(
    /\b(?:nsaids?|nsar|aines?|ains|ass)\b|nicht-?steroidal|non-?steroidal|ibuprof[eè]n|di[ck]lofena[ck]|naprox[eè]n|aspirin|a[cz][eé]t[iy]lsali[cz]|salic[iy]lat/i,
    /^(?:M01A(?!X(?:05|12|21|25|26))|N02BA|B01AC06)/,
  ),
  drugClass(/\bopi(oid|at|ác)|(?<!apo)mor(?:ph|f)in|[ck]od[eé]in/i, /^(N02A|R05DA)/),
  drugClass(/\bace[- ](?:inhibitor|hemmer)|\bieca?\b|\w+prilo?\b/i, /^C09[AB]/),
  drugClass(/\be?statin(?:s|en?|as?|es)?\b|\b(?:ator|ceri|flu|lo|pita|pra|rosu|sim)vastatin/i, /^C10AA/),
  drugClass(/insulin/i, /^A10A/),
  drugClass(/h[eé]parin/i, /^B01AB/),
];
