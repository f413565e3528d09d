/** Returns words for kinds of entries, and for types of authors. */
import { CONSENT_GROUPS } from '#src/oauth/consent-items.ts';
import { TIMELINE_KINDS, timelineKind } from '#src/v1/timeline.ts';
import type { TextKey } from '../pages/languages/language.ts';
import type { Texts } from '../pages/texts.ts';

/** The name of each kind. */
const KINDS = {
  document: 'kinds.document',
  observation: 'kinds.observation',
  medication: 'kinds.medication',
  condition: 'kinds.condition',
  encounter: 'kinds.encounter',
  procedure: 'kinds.procedure',
  immunization: 'kinds.immunization',
  allergy: 'kinds.allergy',
  report: 'kinds.report',
  care_plan: 'kinds.careplan',
  goal: 'kinds.goal',
  prescription: 'kinds.prescription',
} as const satisfies Readonly<Record<(typeof TIMELINE_KINDS)[number], TextKey>>;

/** Returns the name of a timeline kind. */
export function kindText(say: Texts, kind: string): string {
  const key = TIMELINE_KINDS.find((each) => each === kind);
  return key === undefined ? kind : say(KINDS[key]);
}

/** The group for each type, in the form used as an object in a sentence. The groups are the ones on the consent page. */
const GROUP_KEYS = [
  ['results', 'short.results'],
  ['conditions', 'short.conditions'],
  ['medications', 'short.medications'],
  ['allergies', 'short.allergies'],
  ['immunizations', 'short.immunizations'],
  ['procedures', 'short.procedures'],
  ['encounters', 'short.encounters'],
  ['documents', 'short.documents'],
  ['care', 'short.care'],
  ['devices', 'short.devices'],
  ['contacts', 'short.contacts'],
  ['origins', 'short.origins'],
  ['demographics', 'short.demographics'],
] as const satisfies readonly (readonly [keyof typeof CONSENT_GROUPS, TextKey])[];

/** In display order. */
const KIND_KEYS = [...GROUP_KEYS.map(([, key]) => key), 'kind.directory'] as const;

type KindKey = (typeof KIND_KEYS)[number];

/** Returns the key of a type's name, which is the key of its group. */
function kindKey(type: string): KindKey {
  const found = GROUP_KEYS.find(([group]) => CONSENT_GROUPS[group].some((each) => each === type));
  return found?.[1] ?? 'kind.directory';
}

/** Returns the names of resource types. Each group is listed once, in the same order as on the consent page. */
export function kindsText(say: Texts, types: readonly string[]): string {
  const keys = new Set(types.map(kindKey));
  return say.list(KIND_KEYS.filter((key) => keys.has(key)).map((key) => say(key)));
}

/** Returns the words for a resource of a type: a health problem, a medicine. */
export function typeText(say: Texts, type: string): string {
  const kind = timelineKind(type);
  return kind === undefined ? kindsText(say, [type]) : kindText(say, kind);
}

const AUTHORS = {
  patient: 'author.patient',
  practitioner: 'author.practitioner',
  device: 'author.device',
  import: 'author.import',
  ai: 'author.ai',
} as const satisfies Readonly<Record<string, TextKey>>;

/** Returns the name of an author type. */
export function authorText(say: Texts, type: string): string {
  return say(Object.entries(AUTHORS).find(([name]) => name === type)?.[1] ?? 'author.import');
}
