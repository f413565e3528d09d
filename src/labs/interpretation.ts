/** Converts abnormal flags (OBX-8, HL7 table 0078): https://terminology.hl7.org/ValueSet-v3-ObservationInterpretation.html */
import type { JsonObject } from '#src/shared/json/json.ts';

const SYSTEM = 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation';

/** Code → display. */
const CODES: Readonly<Record<string, string>> = {
  '<': 'Off scale low',
  '>': 'Off scale high',
  A: 'Abnormal',
  AA: 'Critical abnormal',
  B: 'Better',
  D: 'Significant change down',
  DET: 'Detected',
  E: 'Equivocal',
  H: 'High',
  HH: 'Critical high',
  HU: 'Significantly high',
  I: 'Intermediate',
  IND: 'Indeterminate',
  L: 'Low',
  LL: 'Critical low',
  LU: 'Significantly low',
  N: 'Normal',
  ND: 'Not detected',
  NEG: 'Negative',
  NR: 'Non-reactive',
  NS: 'Non-susceptible',
  POS: 'Positive',
  R: 'Resistant',
  RR: 'Reactive',
  S: 'Susceptible',
  SDD: 'Susceptible-dose dependent',
  U: 'Significant change up',
  W: 'Worse',
  WR: 'Weakly reactive',
};

/** Words that can mean only one flag. */
const WORDS: Readonly<Record<string, string>> = {
  LOW: 'L',
  HIGH: 'H',
  NORMAL: 'N',
  ABNORMAL: 'A',
  POSITIVE: 'POS',
  NEGATIVE: 'NEG',
  'H*': 'HH',
  'L*': 'LL',
};

/** Returns a flag's concept, with its code if the flag is known, and always with its text. */
export function makeInterpretation(flag: string): JsonObject {
  const upper = flag.trim().toUpperCase();
  const code = WORDS[upper] ?? upper;
  const display = CODES[code];
  return {
    ...(display === undefined ? {} : { coding: [{ system: SYSTEM, code, display }] }),
    text: flag.trim(),
  };
}
