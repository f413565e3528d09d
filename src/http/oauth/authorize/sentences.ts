/**
 * Describes an application's request in sentences that a patient understands. The sentences shown are stored with the consent.
 */
import type { ConsentGroup, ConsentItem } from '#src/oauth/consent-items.ts';
import { CONSENT_GROUPS, consentItems } from '#src/oauth/consent-items.ts';
import { categoryText, clinicalScopes, type Scope, unite } from '#src/oauth/scopes.ts';
import { capital } from '../../pages/capital.ts';
import type { TextKey } from '../../pages/languages/language.ts';
import type { Texts } from '../../pages/texts.ts';

/** The names of types in groups that contain several types. Every other type is named after its group. */
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

/** Observation categories (http://terminology.hl7.org/CodeSystem/observation-category, and `symptom`). */
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

/** Milliseconds in a day. */
export const DAY_MS = 86_400_000;

/** The action on an item: the last part of the key of its sentence. */
type Verb = 'readyour' | 'read' | (typeof WRITING)[number];

/** An item with its sentence: a verb and its object. */
export interface ItemSentence extends ConsentItem {
  readonly sentence: string;
  readonly verb: Verb;
  readonly things: string;
}

/**
 * Returns the items that a person can leave out.
 * @param own whether every record on offer is the person's own, so that `your` is true for each of them
 */
export function itemSentences(say: Texts, scopes: readonly Scope[], own: boolean): ItemSentence[] {
  return consentItems(scopes).map((item) => {
    const [verb, things] = [chooseVerb(item, scopes, own), writeThings(say, item)];
    return { ...item, sentence: writeSentence(say, verb, things), verb, things };
  });
}

function chooseVerb(item: ConsentItem, scopes: readonly Scope[], own: boolean): Verb {
  if (item.access === 'read') return own ? 'readyour' : 'read';
  return WRITING.find((each) => each === writingLetters(item, scopes)) ?? 'cud';
}

function writeSentence(say: Texts, verb: Verb, things: string): string {
  return capital(say, say(`sentence.${verb}`, { things }));
}

/** Maximum number of items that are all named in full. If there are more, a whole group is named by its short name. */
export const FEW_ITEMS = 4;

/**
 * Summarizes items in one sentence per verb, in page order. If a sentence would repeat all the items of a long first sentence,
 * it says "the same" instead of naming the items again.
 */
export function sumUpItems(say: Texts, items: readonly ItemSentence[]): string[] {
  const verbs = [...new Set(items.map(({ verb }) => verb))];
  const [first = [], ...others] = verbs.map((verb) => items.filter((each) => each.verb === verb));
  const isIn = (list: readonly ItemSentence[], { things }: ItemSentence): boolean =>
    list.some((each) => each.things === things);
  return [first, ...others].flatMap((own) => {
    const [{ verb } = {}] = own;
    if (verb === undefined) return [];
    const repeats = own !== first && first.length > FEW_ITEMS && first.every((each) => isIn(own, each));
    const names = (repeats ? own.filter((each) => !isIn(first, each)) : own).map((each) =>
      own.length > FEW_ITEMS ? shortName(say, each) : each.things,
    );
    return [writeSentence(say, verb, say.list(repeats ? [say('asked.same'), ...names] : names))];
  });
}

/** Returns the short name of a whole group. Part of a group is still named in full. */
export function shortName(say: Texts, { group, types, category, things }: ItemSentence): string {
  const isWhole = category === undefined && types.length === CONSENT_GROUPS[group].length;
  return isWhole ? say(`short.${group}`) : things;
}

/** Groups whose entries can reveal facts that people keep private. */
const SENSITIVE: readonly ConsentGroup[] = [
  'results',
  'conditions',
  'medications',
  'procedures',
  'encounters',
  'documents',
  'care',
];

/** Returns whether reading the given items can reveal facts that people keep private. */
export function areSensitive(items: readonly ConsentItem[]): boolean {
  return items.some(({ access, group }) => access === 'read' && SENSITIVE.includes(group));
}

/** Returns the object in an item's sentence: the group, the requested types in the group, or a category. */
function writeThings(say: Texts, { group, types, category }: ConsentItem): string {
  const whole = types.length === CONSENT_GROUPS[group].length;
  const named = types.map((type) => say(isNamed(type) ? TYPES[type] : `things.${group}`));
  const things = whole ? say(`things.${group}`) : say.list(named);
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

/** Returns the letters for writing that the given scopes include for an item. */
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

/** Returns whether the application learns who the person is, in addition to their record. */
export function asksIdentity(scopes: readonly Scope[]): boolean {
  return scopes.some((scope) => scope === 'openid' || scope === 'fhirUser' || scope === 'profile');
}

/** Returns the sentences about items that a person can't leave out. */
export function fixedSentences(say: Texts, scopes: readonly Scope[], app: string): string[] {
  return [
    say('sentence.always'),
    say('sentence.new'),
    ...(asksIdentity(scopes) ? [say('sentence.identity', { app })] : []),
  ];
}

/** Returns what the page says about one scope; empty for scopes about which people don't decide. */
export function scopeSentences(say: Texts, scope: Scope, app: string): string[] {
  if (scope === 'offline_access') return [say('sentence.offline', { app })];
  if (asksIdentity([scope])) return [say('sentence.identity', { app })];
  const own = sumUpItems(say, itemSentences(say, [scope], true));
  const readsAlways = typeof scope !== 'string' && scope.context === 'patient' && /[rs]/.test(scope.letters);
  return own.length === 0 && readsAlways ? [say('sentence.always')] : own;
}
