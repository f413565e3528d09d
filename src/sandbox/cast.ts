/** Lists the thirty patients with their ages and the stories for their records. */
import type { Part } from './people.ts';
import type { RecordBuilder } from './record.ts';
import * as heart from './stories/heart.ts';
import * as life from './stories/life.ts';
import * as lungs from './stories/lungs.ts';
import * as metabolic from './stories/metabolic.ts';
import * as mind from './stories/mind.ts';

/** A patient's part with its story. */
export interface Role extends Part {
  readonly tell: (builder: RecordBuilder) => void;
  /** Days since death: minimum and maximum. */
  readonly died?: readonly [number, number];
  /** A description for people who choose a patient, if the story's name isn't sufficient. */
  readonly about?: string;
}

/** The cast, in the order of creation: a smaller sandbox has only the first patients. */
export const CAST: readonly Role[] = [
  { story: 'diabetes for twenty years', ages: [58, 72], tell: metabolic.diabetesForTwentyYears },
  {
    story: 'mother of the child with asthma',
    sex: 'female',
    ages: [34, 44],
    about: 'healthy',
    tell: life.healthy,
  },
  { story: 'asthma', ages: [7, 11], childOf: 'mother of the child with asthma', tell: lungs.asthmaOfAChild },
  {
    story: 'almost nothing',
    ages: [20, 60],
    about: 'almost nothing in the record',
    tell: life.almostNothing,
  },
  { story: 'hypertension', ages: [48, 66], tell: heart.hypertension },
  { story: 'pregnancy', sex: 'female', ages: [24, 37], tell: life.pregnancy },
  { story: 'depression', ages: [24, 50], tell: mind.depression },
  { story: 'atrial fibrillation, warfarin', ages: [66, 82], tell: heart.fibrillationOnWarfarin },
  { story: 'hypothyroidism', sex: 'female', ages: [32, 55], tell: metabolic.hypothyroidism },
  { story: 'kidney disease', ages: [60, 76], tell: heart.kidneyDisease },
  { story: 'father of the infant', sex: 'male', ages: [27, 38], about: 'healthy', tell: life.healthy },
  { story: 'infant', ages: [1.1, 1.6], childOf: 'father of the infant', tell: life.infant },
  { story: 'COPD', ages: [58, 74], tell: lungs.obstructiveDisease },
  { story: 'breast cancer', sex: 'female', ages: [50, 68], tell: mind.breastCancer },
  { story: 'heart failure', ages: [68, 84], tell: heart.heartFailure },
  { story: 'penicillin allergy', ages: [23, 33], tell: lungs.penicillinAllergy },
  { story: 'broken wrist', sex: 'female', ages: [62, 76], tell: life.brokenWrist },
  { story: 'diabetes found a year ago', ages: [42, 58], tell: metabolic.newDiabetes },
  { story: 'mother of the teenager', sex: 'female', ages: [41, 52], about: 'migraine', tell: mind.migraine },
  { story: 'hay fever', ages: [13, 17], childOf: 'mother of the teenager', tell: lungs.pollen },
  { story: 'end of life', ages: [78, 88], died: [90, 400], tell: mind.endOfLife },
  { story: 'atrial fibrillation, apixaban', ages: [60, 78], tell: heart.fibrillationOnApixaban },
  { story: 'rheumatoid arthritis', ages: [38, 60], tell: mind.arthritis },
  { story: 'prostate cancer', sex: 'male', ages: [62, 75], tell: mind.prostateCancer },
  { story: 'pernicious anaemia', ages: [52, 70], tell: metabolic.perniciousAnaemia },
  { story: 'dementia', ages: [76, 88], tell: mind.dementia },
  { story: 'gout', sex: 'male', ages: [44, 64], tell: metabolic.gout },
  { story: 'cholesterol', ages: [42, 60], about: 'high cholesterol', tell: metabolic.cholesterol },
  { story: 'broken ankle', ages: [20, 29], tell: life.brokenAnkle },
  { story: 'diabetes and hypertension', ages: [68, 82], tell: metabolic.diabetesAndPressure },
];
