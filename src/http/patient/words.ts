/** Words reads of a record plainly: what was read, when and by whom. */
import type { GrantUse } from '#queries/access-use.ts';
import { CONSENT_GROUPS } from '#src/oauth/consent-items.ts';
import type { TextKey } from '../pages/languages/language.ts';
import type { Texts } from '../pages/texts.ts';

const DAY_MS = 86_400_000;

/** The time that counts as recent, in ms: the last seven days, including today. */
export const RECENT_MS = 6 * DAY_MS;

/** The group of each type, as the object of a sentence; the groups are those of the consent page. */
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

/** In the order in which they are shown. */
const KIND_KEYS = [...GROUP_KEYS.map(([, key]) => key), 'kind.directory'] as const;

type KindKey = (typeof KIND_KEYS)[number];

/** Returns the key of a type's name: that of its group. */
function kindKey(type: string): KindKey {
  const found = GROUP_KEYS.find(([group]) => CONSENT_GROUPS[group].some((each) => each === type));
  return found?.[1] ?? 'kind.directory';
}

/** Returns the names of types of resources: each group once, in the order of the consent page. */
export function kindsText(say: Texts, types: readonly string[]): string {
  const keys = new Set(types.map(kindKey));
  return say.list(KIND_KEYS.filter((key) => keys.has(key)).map((key) => say(key)));
}

/** Returns when something happened, as people say it: today, yesterday, on Tuesday, on 3 May 2026. */
export function whenText(say: Texts, at: number, now: number): string {
  const days = Math.floor(now / DAY_MS) - Math.floor(at / DAY_MS);
  if (days <= 0) return say('when.today');
  if (days === 1) return say('when.yesterday');
  return days < 7 ? say('when.weekday', { weekday: say.weekday(at) }) : say('when.day', { day: say.day(at) });
}

/** Returns how an application used its access: `Read 12 times in the last 7 days, last on Tuesday: laboratory results`. */
export function usageText(say: Texts, use: GrantUse | undefined, now: number): string {
  if (use === undefined || use.lastAt === null) return say('usage.never');
  const when = whenText(say, use.lastAt / 1_000, now);
  if (use.recent === 0) return say('usage.earlier', { times: use.count, when });
  const things = use.recentTypes.length === 0 ? say('kind.whole') : kindsText(say, use.recentTypes);
  return say('usage.recent', { times: use.recent, when, things });
}
