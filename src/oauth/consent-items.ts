/**
 * The items on the consent page that a person can leave out: groups of resource types, with separate items for reading and
 * writing (docs/spec/decisions.md, section 9). A wildcard shows every group; if a group is left out, the wildcard is replaced
 * by the types that remain. Pure.
 */
import { type ResourceType, TYPE_NAMES } from '../fhir/types.ts';
import { type Category, type ClinicalScope, categoryText, covers, type Scope, unite } from './scopes.ts';

/**
 * Group → its types, in the order of the page. For reading, Patient, the directory and code systems aren't in any group: every
 * grant can read Patient and the directory, and code systems contain nothing personal.
 */
export const CONSENT_GROUPS = {
  results: ['Observation', 'DiagnosticReport', 'Specimen'],
  conditions: ['Condition'],
  medications: ['MedicationStatement', 'MedicationRequest'],
  allergies: ['AllergyIntolerance'],
  immunizations: ['Immunization'],
  procedures: ['Procedure'],
  encounters: ['Encounter'],
  documents: ['DocumentReference'],
  care: ['CarePlan', 'CareTeam', 'Goal'],
  devices: ['Device'],
  contacts: ['RelatedPerson'],
  origins: ['Provenance'],
  /** Name, birth date and contact data: always readable; `patient/Patient.u` allows changes to them. */
  demographics: ['Patient'],
} as const satisfies Record<string, readonly ResourceType[]>;

/** The name of a group. */
export type ConsentGroup = keyof typeof CONSENT_GROUPS;

/**
 * An item: access to a group's resources, or only to its resources in one category. The access is either reading (`r`, `s`) or
 * writing (`c`, `u`, `d`).
 */
export interface ConsentItem {
  /** Unique on the page, and also the item's value in the form: `read:results`, `write:results:laboratory`. */
  readonly id: string;
  readonly access: 'read' | 'write';
  readonly group: ConsentGroup;
  readonly category?: Category;
  /** The requested types; for a wildcard, all types in the group. */
  readonly types: readonly ResourceType[];
}

const ACCESS = { read: 'rs', write: 'cud' } as const;
const GROUPS = Object.keys(CONSENT_GROUPS) as ConsentGroup[];
const GROUP_OF: ReadonlyMap<string, ConsentGroup> = new Map(
  GROUPS.flatMap((group) => CONSENT_GROUPS[group].map((type) => [type, group] as const)),
);

/** The letters that allow reading, or those that allow writing, for one type. */
interface Part extends ClinicalScope {
  readonly access: 'read' | 'write';
}

/**
 * Splits a scope by access, and splits a wildcard by type. Types without a group can never be written, so write access to them
 * is dropped.
 */
function splitByAccess(scope: ClinicalScope): Part[] {
  return (['read', 'write'] as const).flatMap((access) => {
    const letters = [...scope.letters].filter((letter) => ACCESS[access].includes(letter)).join('');
    if (letters === '') return [];
    const types: readonly ResourceType[] = scope.type === '*' ? TYPE_NAMES : [scope.type];
    return types
      .filter((type) => access === 'read' || GROUP_OF.has(type))
      .map((type) => ({ ...scope, access, type, letters }));
  });
}

/** Returns the item for a part; undefined for a part that can't be left out. */
function makeItem(part: Part, scopes: readonly Scope[]): Omit<ConsentItem, 'types'> | undefined {
  const { access, type, category } = part;
  const group = GROUP_OF.get(type);
  if (group === undefined || (group === 'demographics' && access === 'read')) return undefined;
  const { category: _, ...whole } = part;
  // If a type is requested as a whole, its item includes its categories.
  if (category === undefined || covers(scopes, [whole])) return { id: `${access}:${group}`, access, group };
  return { id: `${access}:${group}:${categoryText(category)}`, access, group, category };
}

const isPatient = (scope: Scope): scope is ClinicalScope =>
  typeof scope !== 'string' && scope.context === 'patient';

/** Returns the items that represent the scopes, in the order of the page: reading first. */
export function consentItems(scopes: readonly Scope[]): ConsentItem[] {
  const items = new Map<string, ConsentItem>();
  for (const part of scopes.filter(isPatient).flatMap(splitByAccess)) {
    const item = makeItem(part, scopes);
    if (item === undefined || part.type === '*') continue;
    const types = items.get(item.id)?.types ?? [];
    items.set(item.id, { ...item, types: types.includes(part.type) ? types : [...types, part.type] });
  }
  const rank = ({ access, group }: ConsentItem) =>
    GROUPS.indexOf(group) + (access === 'read' ? 0 : GROUPS.length);
  return [...items.values()].sort((a, b) => rank(a) - rank(b) || (a.id < b.id ? -1 : Number(a.id > b.id)));
}

/**
 * Returns the scopes that remain if a person keeps only some items. A scope stays unchanged if all of its items are kept.
 * @param kept ids of items; ids that `consentItems` doesn't return have no effect
 */
export function keepItems(scopes: readonly Scope[], kept: ReadonlySet<string>): Scope[] {
  return scopes.flatMap((scope): Scope[] => {
    if (!isPatient(scope)) return [scope];
    const parts = splitByAccess(scope);
    const isKept = (part: Part): boolean => {
      const item = makeItem(part, scopes);
      return item === undefined || kept.has(item.id);
    };
    const staying = parts.filter(isKept);
    const isWhole = scope.type === '*' || unite(parts.map(({ letters }) => letters)) === scope.letters;
    if (isWhole && staying.length === parts.length) return [scope];
    const { context, type, category } = scope;
    const filter = category === undefined ? {} : { category };
    return (['read', 'write'] as const).flatMap((access) => {
      const asked = parts.filter((part) => part.access === access);
      const left = staying.filter((part) => part.access === access);
      // The wildcard stays for the access whose items are all kept.
      const named = left.length === asked.length ? left.slice(0, 1).map((part) => ({ ...part, type })) : left;
      return named.map((part) => ({ context, type: part.type, letters: part.letters, ...filter }));
    });
  });
}
