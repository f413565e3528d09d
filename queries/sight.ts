/**
 * Builds the condition that limits read-model rows to the rows that a caller may see. No other code limits the rows of
 * `resources`, `history` and `timeline` (docs/spec/decisions.md, section 9, "Letters" and "Categories"). A caller with an API
 * key sees all of the owner's data, so its statements have only the condition on the tenant; if a client's scopes name types,
 * its statements also have a condition on types. Under a grant, the record, types and categories are conditions inside the
 * query, so totals, pages and sort orders cover only the visible rows.
 */
import { categoryKey } from '#src/fhir/search/categories.ts';
import { isResourceType, TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
import {
  type Access,
  categoriesFor,
  hasLetters,
  type Letters,
  typesWith,
} from '#src/shared/access/access.ts';
import { accessIn, type Sees } from '#src/shared/access/caller.ts';
import { atPresent } from './database/as-of.ts';
import { prepared } from './database/prepared.ts';

/** The properties of a caller that the condition needs. */
export type Seeing = Pick<Sees, 'ownerId' | 'types' | 'asOf'> & {
  readonly within?: Pick<NonNullable<Sees['within']>, 'record' | 'access'>;
};

/**
 * The letters that a query needs; the caller must have all of them: `r` for reads by id, `s` for searches, `rs` for whole
 * records, or the letters for writes.
 */
export type Needs = Letters;

/** Adds a value to a statement and returns its placeholder, such as `$3::uuid`. */
export type Bind = (value: unknown, type: 'uuid' | 'text' | 'text[]' | 'int8[]') => string;

/** Returns a function that adds further values to a statement. */
export function bindTo(values: unknown[]): Bind {
  return (value, type) => `$${values.push(value)}::${type}`;
}

/**
 * Returns a prepared statement. Without a grant, it is unchanged; under a grant, it has the condition and a different name.
 * @param text returns the SQL, given the result of `andSeen`
 */
export function seenStatement(
  sees: Seeing,
  statement: { readonly name: string; readonly values: unknown[] },
  needs: Needs,
  rows: Rows,
  text: (seen: string) => string,
): { name?: string; text: string; values: unknown[] } {
  const { name, values } = statement;
  if (!isLimited(sees)) return { name, text: text(''), values };
  return prepared(text(andSeen(sees, needs, rows, bindTo(values))), values);
}

/**
 * Returns whether some of the owner's rows are hidden from a caller. If so, the caller's statements differ from those for an
 * API key.
 */
export function isLimited({ within, types }: Seeing): boolean {
  return within !== undefined || types !== undefined;
}

/** Describes the rows in a statement. */
export interface Rows {
  /** The alias of the table. */
  readonly as: string;
  /**
   * `current`: resources.resource. `version`: history.version, where a version is visible only if the resource's current
   * version is visible too. `item`: timeline.entry, where each version is judged by itself.
   */
  readonly of: 'current' | 'version' | 'item';
  /** The type of all the rows, if known; the condition on types is then left out. */
  readonly type?: string | undefined;
}

/** The limits for one letter: types that are visible as a whole, and hashes of the visible categories in other types. */
interface Limits {
  readonly types: readonly string[];
  readonly keys: readonly string[];
}

/**
 * Returns SQL that starts with `and`; empty without a grant. It selects rows in the granted record or the owner's directory,
 * in types and categories for which the grant has all the needed letters; a Provenance's targets must also be visible. The
 * caller adds the conditions on the tenant and against deleted rows.
 */
export function andSeen(sees: Seeing, needs: Needs, rows: Rows, bind: Bind): string {
  const { within, types } = sees;
  if (within !== undefined)
    return `and ${new Sight(sees.ownerId, within, needs, bind, sees.asOf !== undefined).of(rows)}`;
  return types === undefined ? '' : andOfTypes(types, needs, rows, bind);
}

/**
 * Returns SQL that starts with `and` and selects rows of the types that a client's scopes name; empty if the scopes cover
 * every row.
 */
function andOfTypes(types: Access, needs: Needs, { as, type }: Rows, bind: Bind): string {
  if (type !== undefined) return hasLetters(types, type, needs) ? '' : 'and false';
  return `and ${as}.type = any(${bind(typesWith(types, needs), 'text[]')})`;
}

/**
 * Returns SQL that starts with `and` and selects the versions `as` whose automatic Provenance is visible, which it is if its
 * target is. Empty without a grant.
 */
export function andSeenProvenance(sees: Seeing, needs: Needs, as: string, bind: Bind): string {
  const access = accessIn(sees);
  if (access === undefined) return '';
  if (!hasLetters(access, 'Provenance', needs)) return 'and false';
  return andSeen(sees, needs, { as, of: 'version' }, bind);
}

/**
 * Returns a prepared statement like `seenStatement`, but for Provenances.
 * @param text returns the SQL, given functions that return two conditions: one on rows `r` in resources.resource, which are
 *   clients' own
 * Provenances, and one on versions `v`, which have automatic Provenances
 */
export function seenProvenances(
  sees: Seeing,
  statement: { readonly name: string; readonly values: unknown[] },
  needs: Needs,
  text: (own: () => string, automatic: () => string) => string,
): { name?: string; text: string; values: unknown[] } {
  const { name, values } = statement;
  const bind = bindTo(values);
  const own = () => andSeen(sees, needs, { as: 'r', of: 'current', type: 'Provenance' }, bind);
  const made = text(own, () => andSeenProvenance(sees, needs, 'v', bind));
  return isLimited(sees) ? prepared(made, values) : { name, text: made, values };
}

/** The conditions that a search of Provenance adds: SQL that starts with `and`, or nothing without a grant. */
export interface SeenProvenance {
  /** Returns the condition on rows of history.version that their automatic Provenance is visible. */
  readonly automatic: (as: string) => string;
  /** Returns the condition on rows of history.client_provenance that the client's own Provenance is visible. */
  readonly own: (as: string) => string;
  /** The directory types whose versions may all be visible; empty without a grant. */
  readonly directoryTypes: readonly string[];
}

/** Returns the conditions for a search of Provenance: the caller needs all the letters on the Provenance and on its targets. */
export function seenProvenance(sees: Seeing, needs: Needs, bind: Bind): SeenProvenance {
  const { within } = sees;
  const types = TYPE_NAMES.filter((type) => findHome(type) !== 'record' && seesType(sees, type, needs));
  return {
    automatic: (as) => andSeenProvenance(sees, needs, as, bind),
    // Index: primary key of resources.resource.
    own: (as) =>
      !isLimited(sees)
        ? ''
        : `and exists (select from resources.resource o where o.id = ${as}.id and not o.deleted
            ${andSeen(sees, needs, { as: 'o', of: 'current', type: 'Provenance' }, bind)})`,
    directoryTypes: within === undefined ? [] : types,
  };
}

/**
 * Returns SQL for a text: of the given letters, the ones that a caller under a grant has on a resource in resources.resource.
 * The text is empty if the caller may not see the resource at all.
 * @param as the table's alias
 */
export function lettersOn(sees: Seeing, letters: Letters, as: string, bind: Bind): string {
  const each = [...letters].map((letter) => {
    const condition = andSeen(sees, letter, { as, of: 'current' }, bind).replace(/^and /, '');
    return `case when ${condition} then '${letter}' end`;
  });
  return `concat(${each.join(', ')})`;
}

/** The caller's part of a lookup of one row by id. Lookups by several callers share one statement: see `seenByKey`. */
export interface SightKey {
  readonly type: string;
  readonly tenant: string;
  readonly record: string;
  readonly home: 'record' | 'directory' | 'either';
  /** Category hashes; the row must have at least one of them. Null if categories don't limit the caller. */
  readonly categories: readonly string[] | null;
}

/**
 * Returns the caller's part of a shared lookup; undefined if the caller may not see anything of the type. Not for Provenance,
 * whose visibility depends on its targets.
 */
export function sightKey(
  ownerId: string,
  { record, access }: NonNullable<Seeing['within']>,
  type: string,
  letter: 'r' | 's',
): SightKey | undefined {
  if (!hasLetters(access, type, letter)) return undefined;
  const categories = categoryKeysFor(access, type, letter) ?? null;
  return { type, tenant: ownerId, record, home: findHome(type), categories };
}

/**
 * Returns SQL for the condition that the caller of the lookup `k` (see `sightKey`) may see a row `as` of resources.resource.
 */
export function seenByKey(as: string): string {
  return `${as}.type = k.type and ${as}.tenant = k.tenant
    and case when ${as}.record is null then k.home <> 'record' else k.home <> 'directory' and ${as}.record = k.record end
    and (k.categories is null or ${as}.categories && k.categories)`;
}

/** Returns whether a caller may query a type at all. */
export function seesType(sees: Seeing, type: string, needs: Needs): boolean {
  const access = accessIn(sees);
  return access === undefined || hasLetters(access, type, needs);
}

/** Returns where the visible rows of a type are: in the granted record, in the directory, or in either. */
export function findHome(type: string): 'record' | 'directory' | 'either' {
  const home = isResourceType(type) ? typeEntry(type).home : 'record';
  return home === 'directory' || home === 'either' ? home : 'record';
}

/** Returns category hashes; a row of the type must have at least one of them. Undefined if categories don't limit the rows. */
export function categoryKeysFor(access: Access, type: string, letter: string): readonly string[] | undefined {
  const categories = categoriesFor(access, type, letter);
  return categories === 'all' ? undefined : categories.map((each) => categoryKey(type, each));
}

const known = new WeakMap<Access, Map<string, Limits>>();

/** Returns the limits for a letter, computed once per grant. */
function limitsFor(access: Access, letter: string): Limits {
  const letters = known.get(access) ?? new Map<string, Limits>();
  known.set(access, letters);
  const before = letters.get(letter);
  if (before !== undefined) return before;
  const types = TYPE_NAMES.filter((type) => categoriesFor(access, type, letter) === 'all');
  const keys = TYPE_NAMES.flatMap((type) => categoryKeysFor(access, type, letter) ?? []);
  const limits = { types, keys };
  letters.set(letter, limits);
  return limits;
}

/** Builds the condition. Values are bound when they are first used, because PostgreSQL rejects unused parameters. */
class Sight {
  readonly #bound = new Map<string, string>();

  constructor(
    readonly ownerId: string,
    readonly within: NonNullable<Seeing['within']>,
    readonly needs: Needs,
    readonly bind: Bind,
    /** True if the rows are as of a past time. A row is then visible only if its resource's present version is visible too. */
    readonly isPast = false,
  ) {}

  #once(name: string, value: unknown, type: Parameters<Bind>[1]): string {
    const placeholder = this.#bound.get(name) ?? this.bind(value, type);
    this.#bound.set(name, placeholder);
    return placeholder;
  }

  get #owner(): string {
    return this.#once('owner', this.ownerId, 'uuid');
  }

  get #record(): string {
    return this.#once('record', this.within.record, 'uuid');
  }

  of({ as, of, type }: Rows): string {
    const own = type === undefined ? this.#ofAny(as) : this.#ofType(as, type);
    const conditions = [own];
    const limited = this.#isLimited(type);
    if (limited && of !== 'item') {
      if (type === undefined || type === 'Provenance') conditions.push(this.#withTargets(as, type));
      if (of === 'version') conditions.push(this.#current(as, type));
    }
    if (limited && this.isPast) conditions.push(atPresent(this.#present.#current(as, type)));
    return conditions.join(' and ');
  }

  get #present(): Sight {
    return new Sight(this.ownerId, this.within, this.needs, this.bind);
  }

  /** Returns whether some rows of a type in the record may be hidden; if `type` is undefined, rows of any type count. */
  #isLimited(type: string | undefined): boolean {
    const { access } = this.within;
    const isAny = type === undefined || type === 'Provenance';
    return (isAny ? TYPE_NAMES : [type]).some((each) =>
      [...this.needs, ...(isAny ? this.#ofTargets : '')].some(
        (letter) => categoriesFor(access, each, letter) !== 'all',
      ),
    );
  }

  /**
   * The letters that a Provenance needs on its targets. To write a Provenance, the caller must be able to see its targets, but
   * needn't be able to write them.
   */
  get #ofTargets(): Needs {
    return [...this.needs].some((letter) => 'cud'.includes(letter)) ? 'r' : this.needs;
  }

  /** Rows of one type. */
  #ofType(as: string, type: string): string {
    const { access } = this.within;
    if (!hasLetters(access, type, this.needs)) return 'false';
    const nowhere = `${as}.record is null`;
    const inRecord = () => `${as}.record = ${this.#record}`;
    const home = findHome(type);
    const either = () => `(${inRecord()} or ${nowhere})`;
    const place = home === 'directory' ? nowhere : home === 'record' ? inRecord() : either();
    const limited = [...this.needs].flatMap((letter) => {
      const keys = categoryKeysFor(access, type, letter);
      if (keys === undefined) return [];
      return [`${as}.categories && ${this.#once(`${type} ${keys.join()}`, keys, 'int8[]')}`];
    });
    return [place, ...new Set(limited)].join(' and ');
  }

  /** Returns the condition on rows of any type. Only directory entries have no record. */
  #ofAny(as: string): string {
    const letters = [...this.needs].map((letter) => {
      const { types, keys } = limitsFor(this.within.access, letter);
      const whole = `${as}.type = any(${this.#once(types.join(), types, 'text[]')})`;
      if (keys.length === 0) return whole;
      return `(${whole} or ${as}.categories && ${this.#once(keys.join(), keys, 'int8[]')})`;
    });
    const place = `(${as}.record = ${this.#record} or ${as}.record is null)`;
    return [place, ...new Set(letters)].join(' and ');
  }

  /**
   * Returns the condition that the current version of a version's resource is visible. Index: primary key of
   * resources.resource.
   */
  #current(as: string, type: string | undefined): string {
    return `exists (select from resources.resource c where c.id = ${as}.id and ${this.of({ as: 'c', of: 'current', type })})`;
  }

  /**
   * Returns the condition that a Provenance's targets are all visible; if a target is itself a Provenance, its targets must be
   * visible too. Ids that aren't stored here hide nothing. Indexes: primary keys of resources.resource and history.version,
   * history.version_event.
   */
  #withTargets(as: string, type: string | undefined): string {
    const named = `split_part(n.name, '/', 1)::uuid as id, nullif(split_part(n.name, '/', 2), '')::int as version`;
    const targets =
      this.#ofTargets === this.needs
        ? this
        : new Sight(this.ownerId, this.within, this.#ofTargets, this.bind);
    const seen = (alias: string) => `${alias}.tenant = ${this.#owner} and ${targets.#ofAny(alias)}`;
    const hidden = `exists (
      with recursive t(id, version) as (
        select ${named} from unnest(${as}.targets) n(name)
        union
        select ${named} from t cross join lateral (
          select unnest(c.targets) as name from resources.resource c where c.id = t.id
          union all select unnest(h.targets) from history.version h where h.event_id = t.id) n)
      select from t
      where exists (select from resources.resource c where c.id = t.id and (${seen('c')}) is not true)
        or exists (select from history.version h where h.id = t.id and h.version = t.version and (${seen('h')}) is not true)
        or exists (select from history.version h where h.event_id = t.id and (${seen('h')} and exists (
          select from resources.resource c where c.id = h.id and ${seen('c')})) is not true))`;
    return type === undefined ? `(${as}.type <> 'Provenance' or not ${hidden})` : `not ${hidden}`;
  }
}
