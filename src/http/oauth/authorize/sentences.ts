/** What an application asks for, in sentences that a patient understands. Those shown are kept with the consent. */
import type { ConsentItem } from '#src/oauth/consent-items.ts';
import { CONSENT_GROUPS, consentItems } from '#src/oauth/consent-items.ts';
import { categoryText, clinicalScopes, type Scope, unite } from '#src/oauth/scopes.ts';
import type { TextKey } from '../../pages/languages/language.ts';
import type { Texts } from '../../pages/texts.ts';

/** The parts of groups that have several types; the other types are named as their group. */
const TYPES = {
  Observation: 'things.observation',
  DiagnosticReport: 'things.diagnosticreport',
  Specimen: 'things.specimen',
  MedicationStatement: 'things.medicationstatement',
  MedicationRequest: 'things.medicationrequest',
  CarePlan: 'things.careplan',
  CareTeam: 'things.careteam',
  Goal: 'things.goal',
} as const satisfies Readonly<Record<string, TextKey>>;

/** Categories of observations (http://terminology.hl7.org/CodeSystem/observation-category, and `symptom`). */
const CATEGORIES = {
  laboratory: 'things.laboratory',
  'vital-signs': 'things.vitalsigns',
  symptom: 'things.symptom',
  activity: 'things.activity',
  survey: 'things.survey',
  exam: 'things.exam',
  imaging: 'things.imaging',
  'social-history': 'things.socialhistory',
} as const satisfies Readonly<Record<string, TextKey>>;

const WRITING = ['c', 'u', 'd', 'cu', 'cd', 'ud', 'cud'] as const;

/** Milliseconds of a day. */
export const DAY_MS = 86_400_000;

/** An item with its sentence. */
export interface ItemSentence extends ConsentItem {
  readonly sentence: string;
}

/**
 * Returns the items that a person can leave out.
 * @param own whether every record on offer is the person's own, so that `your` is true whichever they choose
 */
export function itemSentences(say: Texts, scopes: readonly Scope[], own: boolean): ItemSentence[] {
  return consentItems(scopes).map((item) => ({ ...item, sentence: sentenceOf(say, item, scopes, own) }));
}

function sentenceOf(say: Texts, item: ConsentItem, scopes: readonly Scope[], own: boolean): string {
  const things = thingsOf(say, item);
  if (item.access === 'read')
    return capital(say, say(own ? 'sentence.readyour' : 'sentence.read', { things }));
  const letters = WRITING.find((each) => each === writingLetters(item, scopes)) ?? 'cud';
  return capital(say, say(`sentence.${letters}`, { things }));
}

/** Returns what an item is about: its group, the types of it that are asked for, or a category. */
function thingsOf(say: Texts, { group, types, category }: ConsentItem): string {
  const whole = types.length === CONSENT_GROUPS[group].length;
  const named = types.map((type) => say(isNamed(type) ? TYPES[type] : `things.${group}`));
  const things = whole
    ? say(`things.${group}`)
    : new Intl.ListFormat(say.lang, { type: 'conjunction' }).format(named);
  if (category === undefined) return things;
  const { code } = category;
  const ofObservations = types.every((type) => type === 'Observation');
  if (ofObservations && isKnownCategory(code)) return say(CATEGORIES[code]);
  return say('sentence.category', { things, category: categoryText(category) });
}

function isNamed(type: string): type is keyof typeof TYPES {
  return Object.hasOwn(TYPES, type);
}

function isKnownCategory(code: string): code is keyof typeof CATEGORIES {
  return Object.hasOwn(CATEGORIES, code);
}

/** Returns the writing letters that scopes have for an item. */
function writingLetters({ types, category }: ConsentItem, scopes: readonly Scope[]): string {
  const own = clinicalScopes(scopes).filter(
    (scope) =>
      (scope.type === '*' || types.some((type) => type === scope.type)) &&
      (category === undefined ||
        scope.category === undefined ||
        categoryText(scope.category) === categoryText(category)),
  );
  return unite(own.map(({ letters }) => letters)).replace(/[rs]/g, '');
}

function capital(say: Texts, sentence: string): string {
  const [first = '', ...rest] = sentence;
  return first.toLocaleUpperCase(say.lang) + rest.join('');
}

/** Returns whether the application learns who the person is, beside their record. */
export function asksIdentity(scopes: readonly Scope[]): boolean {
  return scopes.some((scope) => scope === 'openid' || scope === 'fhirUser' || scope === 'profile');
}

/** Returns the sentences about what a person can't leave out. */
export function fixedSentences(say: Texts, scopes: readonly Scope[], app: string): string[] {
  return [
    say('sentence.always'),
    say('sentence.new'),
    ...(asksIdentity(scopes) ? [say('sentence.identity', { app })] : []),
  ];
}
