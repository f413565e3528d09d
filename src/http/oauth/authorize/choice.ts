/** Reads a person's choice from the form on the consent page, and checks it against the offer. */
import { GRANT_DAYS, type PersonalDetails } from '#commands/consent/consents.ts';
import { isDate } from '#src/fhir/validation/primitives.ts';
import { keepItems } from '#src/oauth/consent-items.ts';
import type { Scope } from '#src/oauth/scopes.ts';
import type { OfferedRecord } from '../../ports/authorize.ts';
import type { ItemSentence } from './sentences.ts';

/** The value of `record` for a record that doesn't exist yet. */
export const NEW_RECORD = 'new';
/** The value of `item` for `offline_access`. */
export const OFFLINE = 'offline';

/** How long a grant may last, in days. */
export type GrantDays = (typeof GRANT_DAYS)[number];
/** Maximum duration for a guest, in days. */
const MOST_GUEST_DAYS = 90;

/** Returns the durations that a person can choose for an application. */
export function grantDays({ guest }: { readonly guest?: object }): readonly GrantDays[] {
  return guest === undefined ? GRANT_DAYS : GRANT_DAYS.filter((days) => days <= MOST_GUEST_DAYS);
}

/** The fields that can be faulty. The key of each field's text is `fault.` followed by the field's name. */
export type FaultyField = 'record' | 'given' | 'family' | 'birthdate' | 'items' | 'days' | 'unavailable';

/** The choices on offer. */
export interface Offer {
  readonly records: readonly OfferedRecord[];
  /** True if the application named a record that isn't in `records`. That record may or may not exist. */
  readonly asksOther: boolean;
  /** True if the person may start a personal record. A person has at most one. */
  readonly mayStart: boolean;
  readonly items: readonly ItemSentence[];
  /** The durations to choose from, shortest first. */
  readonly days: readonly GrantDays[];
  readonly scopes: readonly Scope[];
}

/** The state of the form. */
export interface Choice {
  /** A Patient's id, or `NEW_RECORD`; undefined if no record is chosen. */
  readonly record: string | undefined;
  readonly kept: ReadonlySet<string>;
  /** Undefined if none of the durations is chosen. */
  readonly days: GrantDays | undefined;
  /** For a new record. */
  readonly details: PersonalDetails;
}

/** Maximum length of a name. */
export const MAX_NAME = 100;
const MAX_ITEMS = 200;

/**
 * Returns the form's initial state: everything that was requested, for the shortest duration. If the application named a
 * record that the person doesn't have, no record is chosen.
 * @param name the person's name, for a new record
 */
export function firstChoice(offer: Offer, name: string | undefined): Choice {
  const { records, asksOther, mayStart, items } = offer;
  const named = records.find(({ isMeant }) => isMeant);
  const words = (name ?? '')
    .slice(0, 2 * MAX_NAME)
    .split(/\s+/u)
    .filter((word) => word !== '');
  const family = words.length > 1 ? (words.at(-1) ?? '') : '';
  return {
    record: asksOther ? undefined : ((named ?? records[0])?.id ?? (mayStart ? NEW_RECORD : undefined)),
    kept: new Set([...items.map(({ id }) => id), OFFLINE]),
    days: offer.days[0],
    details: {
      given: (family === '' ? words : words.slice(0, -1)).join(' ').slice(0, MAX_NAME),
      family: family.slice(0, MAX_NAME),
      birth_date: '',
    },
  };
}

/** Returns the choices in a form, ignoring choices that aren't on offer. */
export function readChoice(form: URLSearchParams, offer: Offer): Choice {
  const record = form.get('record') ?? undefined;
  const isOffered = record === NEW_RECORD ? offer.mayStart : offer.records.some(({ id }) => id === record);
  const chosen = new Set(form.getAll('item').slice(0, MAX_ITEMS));
  const field = (name: string): string => (form.get(name) ?? '').trim().slice(0, 1_000);
  return {
    record: isOffered ? record : undefined,
    kept: new Set([...offer.items.map(({ id }) => id), OFFLINE].filter((id) => chosen.has(id))),
    days: offer.days.find((days) => String(days) === form.get('days')),
    details: { given: field('given'), family: field('family'), birth_date: field('birth_date') },
  };
}

/**
 * Returns the fields because of which a choice can't be accepted.
 * @param today `YYYY-MM-DD`
 */
export function findFaultyFields(
  { record, kept, days, details }: Choice,
  offer: Offer,
  today: string,
): FaultyField[] {
  const { given, family, birth_date } = details;
  const isNew = record === NEW_RECORD;
  const isName = (text: string): boolean =>
    text !== '' && [...text].length <= MAX_NAME && !/\p{Cc}|\ufffd/u.test(text);
  const isBirthDate =
    /^\d{4}-\d{2}-\d{2}$/.test(birth_date) &&
    isDate(birth_date) &&
    birth_date <= today &&
    birth_date >= '1850-01-01';
  const keepsNone = offer.items.length > 0 && !offer.items.some(({ id }) => kept.has(id));
  return [
    ...(record === undefined ? (['record'] as const) : []),
    ...(isNew && !isName(given) ? (['given'] as const) : []),
    ...(isNew && !isName(family) ? (['family'] as const) : []),
    ...(isNew && !isBirthDate ? (['birthdate'] as const) : []),
    ...(keepsNone ? (['items'] as const) : []),
    ...(days === undefined ? (['days'] as const) : []),
  ];
}

/** Returns the scopes that a choice keeps; never more than were requested. */
export function keptScopes({ kept }: Choice, { scopes }: Pick<Offer, 'scopes'>): Scope[] {
  return keepItems(scopes, kept).filter((scope) => scope !== 'offline_access' || kept.has(OFFLINE));
}
