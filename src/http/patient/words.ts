/** Describes reads of a record in plain words: what was read, when and by whom. */
import type { GrantUse } from '#queries/access-use.ts';
import type { Texts } from '../pages/texts.ts';
import { kindsText } from '../reading/kinds.ts';

const DAY_MS = 86_400_000;

/** Events within this time are recent, in ms: the last seven days, including today. */
export const RECENT_MS = 6 * DAY_MS;

/** Returns when something happened, as people would say it: today, yesterday, on Tuesday, on 3 May 2026. */
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
