/**
 * OAuth scopes (SMART App Launch 2.2, "Scopes for requesting FHIR resources"; docs/spec/decisions.md, section 9,
 * "Accepted scopes"). Pure.
 */
import type { Access, Category, TypeAccess } from '#src/shared/access/access.ts';
import { isResourceType, type ResourceType, TYPE_NAMES, typeEntry } from '../fhir/types.ts';
import { didYouMean, nearest } from '../shared/nearest.ts';

export type { Category, TypeAccess } from '#src/shared/access/access.ts';

/** Scopes without a resource type. */
export const PLAIN_SCOPES = [
  'openid',
  'fhirUser',
  'profile',
  'offline_access',
  'online_access',
  'launch/patient',
] as const;

/** A scope without a resource type. */
export type PlainScope = (typeof PLAIN_SCOPES)[number];

/** A scope for clinical data in the v2 form. `letters` is a non-empty subset of `cruds`, in that order. */
export interface ClinicalScope {
  readonly context: 'patient' | 'system';
  readonly type: ResourceType | '*';
  readonly letters: string;
  readonly category?: Category;
}

/** A parsed scope. */
export type Scope = PlainScope | ClinicalScope;

/** The maximum length of a `scope` parameter, in characters. */
export const MAX_SCOPE_LENGTH = 8_000;
/** The maximum number of scopes in a request. */
export const MAX_SCOPES = 200;

/** Types that can be filtered by category: those with the R4 search parameter `category`. */
export const CATEGORY_TYPES: ReadonlySet<string> = new Set<ResourceType>([
  'AllergyIntolerance',
  'CarePlan',
  'CareTeam',
  'Condition',
  'DiagnosticReport',
  'DocumentReference',
  'Goal',
  'MedicationRequest',
  'MedicationStatement',
  'Observation',
  'Procedure',
]);

/** Types that every grant can read and search: Patient and the directory. */
const ALWAYS_READ: ReadonlySet<string> = new Set<ResourceType>([
  'Patient',
  'Practitioner',
  'PractitionerRole',
  'Organization',
  'Location',
  'Medication',
]);

/** The suffixes of SMART App Launch 1.0 → their v2 form. */
const V1: Readonly<Record<string, string>> = { read: 'rs', write: 'cud', '*': 'cruds' };
const CLINICAL = /^(patient|system)\/(\*|[A-Z][A-Za-z]{0,63})\.([a-z]{1,5}|\*)(?:\?(.*))?$/;
const LETTERS = /^(?=[cruds])c?r?u?d?s?$/;
const SYSTEM_LETTERS: ReadonlySet<string> = new Set(['rs', 'cud', 'cruds']);
/** `category=code` or `category=system|code`: a single value, without the separators and escapes that search uses. */
const CATEGORY = /^category=(?:([^|]{1,200})\|)?([^|]{1,100})$/;
/**
 * Visible ASCII characters that a value may have: not `" \`, which scopes exclude, and not `, & # ? + %`, which search
 * interprets.
 */
const VALUE = /^[!$'-*\-./0-9:;<=>@A-Z[\]^_`a-z{}~]+$/;

const isPlain = (text: string): text is PlainScope => PLAIN_SCOPES.some((scope) => scope === text);

/** Returns the scopes for clinical data among the given scopes. */
export const clinicalScopes = (scopes: readonly Scope[]): readonly ClinicalScope[] =>
  scopes.filter((scope) => typeof scope !== 'string');

/**
 * Parses one scope. SMART v1's `.read`, `.write` and `.*` become `rs`, `cud` and `cruds`.
 * @returns the scope, or `fault`: what is wrong, as the rest of a sentence that begins with the scope
 */
export function parseScope(text: string): { readonly scope: Scope } | { readonly fault: string } {
  if (isPlain(text)) return { scope: text };
  const [, context, type = '', suffix = '', query] = CLINICAL.exec(text) ?? [];
  const letters = V1[suffix] ?? suffix;
  if ((context !== 'patient' && context !== 'system') || !LETTERS.test(letters)) {
    return {
      fault: `must be a SMART v2 scope such as patient/Observation.rs or system/*.rs, or one of ${PLAIN_SCOPES.join(', ')}${didYouMean(text, PLAIN_SCOPES)}`,
    };
  }
  if (type !== '*' && !isResourceType(type))
    return {
      fault: `must not name ${type}, because this service doesn't store that type${meantInstead(text, type)}`,
    };
  if (context === 'system') {
    return query === undefined && (type !== '*' || SYSTEM_LETTERS.has(letters))
      ? { scope: { context, type, letters } }
      : {
          fault:
            'must be system/*.rs, system/*.cruds, or of one type without a filter, such as system/Observation.rs; no other system scopes are supported',
        };
  }
  if (query === undefined) return { scope: { context, type, letters } };
  const category = readCategory(query);
  if (category === undefined) {
    return {
      fault: 'must have no filter except a single ?category=<code> or ?category=<system>|<code>',
    };
  }
  return CATEGORY_TYPES.has(type)
    ? { scope: { context, type, letters, category } }
    : {
        fault: `must have no ?category, because ${type === '*' ? 'not every type has' : `${type} has no`} category`,
      };
}

/**
 * Returns the end of a message about a misspelt type, which suggests the scope with the most similar type; empty if no type is
 * similar.
 */
function meantInstead(scope: string, type: string): string {
  const meant = nearest(type, TYPE_NAMES);
  return meant === undefined ? '' : `; did you mean \`${scope.replace(`/${type}.`, `/${meant}.`)}\`?`;
}

/** Reads a category filter; clients may percent-encode its value. */
function readCategory(query: string): Category | undefined {
  let decoded: string;
  try {
    decoded = decodeURIComponent(query);
  } catch {
    return undefined;
  }
  const [, system, code] = CATEGORY.exec(decoded) ?? [];
  if (code === undefined || !VALUE.test(code) || (system !== undefined && !VALUE.test(system)))
    return undefined;
  return system === undefined ? { code } : { system, code };
}

/**
 * Parses a `scope` parameter: scopes separated by spaces (RFC 6749, section 3.3).
 * @returns the scopes as written in the text, or `fault`: a sentence that names the first invalid scope
 */
export function parseScopes(text: string): { readonly scopes: Scope[] } | { readonly fault: string } {
  if (text.length > MAX_SCOPE_LENGTH)
    return { fault: `scope must have at most ${MAX_SCOPE_LENGTH} characters` };
  const names = text.split(' ').filter((name) => name !== '');
  if (names.length > MAX_SCOPES) return { fault: `scope must have at most ${MAX_SCOPES} scopes` };
  const scopes: Scope[] = [];
  for (const name of names) {
    const parsed = parseScope(name);
    if ('fault' in parsed) return { fault: `${name.slice(0, 300)} ${parsed.fault}` };
    scopes.push(parsed.scope);
  }
  return { scopes };
}

/** Returns registered or granted scopes, leaving out those that are no longer accepted. */
export function knownScopes(names: readonly string[]): Scope[] {
  return names.flatMap((name) => {
    const parsed = parseScope(name);
    return 'fault' in parsed ? [] : [parsed.scope];
  });
}

/** Returns a category as it is written after `?category=`. */
export const categoryText = ({ system, code }: Category): string =>
  system === undefined ? code : `${system}|${code}`;

/** Returns a scope as text in the v2 form. */
export function scopeText(scope: Scope): string {
  if (typeof scope === 'string') return scope;
  const { context, type, letters, category } = scope;
  return `${context}/${type}.${letters}${category === undefined ? '' : `?category=${categoryText(category)}`}`;
}

/** Returns the letters that occur in at least one of the texts, each once, in the order `cruds`. */
export const unite = (letters: readonly string[]): string =>
  [...'cruds'].filter((letter) => letters.some((some) => some.includes(letter))).join('');

/** Returns scopes in the v2 form, sorted and without duplicates; letters for the same type and category are combined. */
export function normalise(scopes: readonly Scope[]): string[] {
  const plain = scopes.filter((scope) => typeof scope === 'string');
  const together = new Map<string, ClinicalScope>();
  for (const scope of clinicalScopes(scopes)) {
    const key = scopeText({ ...scope, letters: '' });
    const letters = unite([scope.letters, together.get(key)?.letters ?? '']);
    together.set(key, { ...scope, letters });
  }
  return [...new Set([...plain, ...[...together.values()].map(scopeText)])].sort();
}

/**
 * Returns whether the wide filter lets through everything that the narrow filter does. An undefined filter lets everything
 * through.
 */
function includesCategory(wide: Category | undefined, narrow: Category | undefined): boolean {
  if (wide === undefined) return true;
  return (
    narrow !== undefined &&
    wide.code === narrow.code &&
    (wide.system === undefined || wide.system === narrow.system)
  );
}

/**
 * Returns the requested scopes that the registered scopes don't cover. A wildcard covers every type, letters cover subsets and
 * add up, and a scope without a category covers every category. Only a wildcard covers a wildcard.
 */
export function uncovered(registered: readonly Scope[], asked: readonly Scope[]): Scope[] {
  const clinical = clinicalScopes(registered);
  return asked.filter((scope) => {
    if (typeof scope === 'string') return !registered.includes(scope);
    const letters = clinical
      .filter(
        ({ context, type, category }) =>
          context === scope.context &&
          (type === '*' || type === scope.type) &&
          includesCategory(category, scope.category),
      )
      .map((own) => own.letters);
    return ![...scope.letters].every((letter) => letters.some((own) => own.includes(letter)));
  });
}

/** Returns whether an application with these registered scopes may ask for the given scopes; see `uncovered`. */
export const covers = (registered: readonly Scope[], asked: readonly Scope[]): boolean =>
  uncovered(registered, asked).length === 0;

/** Returns whether the requested scopes stay within the granted scopes (RFC 6749, section 6: a refresh never widens them). */
export const narrows = (granted: readonly Scope[], asked: readonly Scope[]): boolean =>
  covers(granted, asked);

/**
 * Returns the access that a grant's scopes give to a type: one entry without a category and one for each category, leaving out
 * entries without letters. Patient and the directory always have `rs`.
 */
export function lettersFor(scopes: readonly Scope[], type: ResourceType): TypeAccess[] {
  const own = clinicalScopes(scopes).filter(
    (scope) => scope.context === 'patient' && (scope.type === '*' || scope.type === type),
  );
  const whole = unite([
    ...own.filter(({ category }) => category === undefined).map(({ letters }) => letters),
    ALWAYS_READ.has(type) ? 'rs' : '',
  ]);
  const filtered = new Map<string, { category: Category; letters: string }>();
  for (const { category, letters } of own) {
    if (category === undefined) continue;
    const key = categoryText(category);
    filtered.set(key, { category, letters: unite([letters, filtered.get(key)?.letters ?? '']) });
  }
  return [...(whole === '' ? [] : [{ letters: whole }]), ...filtered.values()];
}

/** The access that `system/` scopes give: an API key's scopes, which may be limited to some types. */
export interface SystemAccess {
  readonly keyScopes: readonly ('read' | 'write')[];
  /** Letters for each type, if the scopes name types; if absent, `keyScopes` apply to all types. */
  readonly types?: Access;
}

/**
 * Returns the access that `system/` scopes give (SMART App Launch 2.2, Backend Services; docs/spec/decisions.md, section 9).
 * `r` or `s` gives the key scope `read`, and `c`, `u` or `d` gives `write`, each for the scope's type. The terminology is open
 * to all.
 */
export function systemAccess(scopes: readonly Scope[]): SystemAccess {
  const own = clinicalScopes(scopes).filter(({ context }) => context === 'system');
  const keyScopes = chooseKeyScopes(own);
  if (own.every(({ type }) => type === '*')) return { keyScopes };
  const types = TYPE_NAMES.map((type): [string, readonly TypeAccess[]] => {
    const held = chooseKeyScopes(own.filter((scope) => scope.type === '*' || scope.type === type));
    const reads = held.includes('read') || typeEntry(type).home === 'terminology';
    const letters = `${reads ? 'rs' : ''}${held.includes('write') ? 'cud' : ''}`;
    return [type, letters === '' ? [] : [{ letters }]];
  });
  return { keyScopes, types: { types: new Map(types.filter(([, each]) => each.length > 0)) } };
}

function chooseKeyScopes(scopes: readonly ClinicalScope[]): ('read' | 'write')[] {
  const has = (some: string): boolean =>
    scopes.some(({ letters }) => [...some].some((one) => letters.includes(one)));
  return [...(has('rs') ? (['read'] as const) : []), ...(has('cud') ? (['write'] as const) : [])];
}
