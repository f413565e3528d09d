/** Everyday names for common measurements, by LOINC code. The names themselves are in the language files of the pages. */
import type { TextKey } from './languages/language.ts';

/** The codes for each name; several if laboratories use several codes for the same measurement. */
const NAMES = {
  'result.heartrate': '8867-4',
  'result.bloodpressure': '85354-9 55284-4',
  'result.systolic': '8480-6',
  'result.diastolic': '8462-4',
  'result.temperature': '8310-5',
  'result.breathing': '9279-1',
  'result.saturation': '2708-6 59408-5',
  'result.weight': '29463-7 3141-9',
  'result.height': '8302-2',
  'result.bmi': '39156-5',
  'result.hba1c': '4548-4 17856-6',
  'result.glucose': '2345-7 2339-0 14749-6 15074-8',
  'result.fastingglucose': '1558-6',
  'result.creatinine': '2160-0 14682-9',
  'result.filtration': '98979-8 33914-3 62238-1 88293-6 48642-3 48643-1 69405-9 77147-7',
  'result.potassium': '2823-3 6298-4',
  'result.sodium': '2951-2 2947-0',
  'result.calcium': '17861-6 49765-1',
  'result.cholesterol': '2093-3 14647-2',
  'result.ldl': '13457-7 18262-6 2089-1 22748-8',
  'result.hdl': '2085-9 14646-4',
  'result.triglycerides': '2571-8 14927-8',
  'result.alt': '1742-6',
  'result.ast': '1920-8',
  'result.ggt': '2324-2',
  'result.bilirubin': '1975-2 14631-6',
  'result.albumin': '1751-7 61151-7',
  'result.tsh': '3016-3 11580-8',
  'result.thyroxine': '3024-7',
  'result.inr': '6301-6 34714-6',
  'result.hemoglobin': '718-7 20509-6',
  'result.hematocrit': '4544-3',
  'result.whitecells': '6690-2 26464-8',
  'result.redcells': '789-8 26453-1',
  'result.platelets': '777-3 26515-7',
  'result.mcv': '787-2 30428-7',
  'result.mch': '785-6 28539-5',
  'result.mchc': '786-4 28540-3',
  'result.rdw': '788-0 30385-9 21000-5',
  'result.mpv': '32623-1 28542-9',
  'result.pdw': '32207-3',
  'result.pain': '72514-3',
  'result.ferritin': '2276-4',
  'result.cobalamin': '2132-9',
  'result.folate': '2284-8',
  'result.vitamind': '1989-3 62292-8',
  'result.crp': '1988-5 30522-7',
  'result.sedimentation': '4537-7 30341-2',
  'result.urate': '3084-1',
  'result.psa': '2857-1',
  'result.steps': '55423-8 41950-7',
  'result.smoking': '72166-2',
} as const satisfies Readonly<Partial<Record<TextKey, string>>>;

const KEY_OF: ReadonlyMap<string, keyof typeof NAMES> = new Map(
  (Object.keys(NAMES) as (keyof typeof NAMES)[]).flatMap((key) =>
    NAMES[key].split(' ').map((code): [string, keyof typeof NAMES] => [code, key]),
  ),
);

const LOINC = 'http://loinc.org';

/** A code as REST v1 shows it. */
export interface NamedCode {
  readonly system: string | null;
  readonly code: string | null;
  readonly display: string | null;
}

/**
 * Returns a measurement's name: its everyday name if there is one, otherwise its display or code.
 * @param say returns a text of the pages
 */
export function resultName(say: (key: TextKey) => string, { system, code, display }: NamedCode): string {
  const key = system === LOINC && code !== null ? KEY_OF.get(code) : undefined;
  return key === undefined ? (display ?? code ?? say('entry.unnamed')) : say(key);
}
