/**
 * Adds missing displays from the installed terminology to responses. Stored resources stay unchanged (docs/spec/decisions.md,
 * section 4).
 */
import { cleanName } from '#src/clinical/reading/names/name.ts';
import type { SystemCode } from '#src/fhir/terminology.ts';
import { isObject } from '#src/shared/json/json.ts';
import type { RestRequest } from './record.ts';

/** Names of codes, by `system|code`. */
export type Displays = ReadonlyMap<string, string>;

/**
 * Looks up names for the codes without a display in the given records, including codes in `components` and `value_code`.
 * @param records in the form used in responses, in which a code is an object with `code`, `system` and `display`; or their
 *   members as text, in the form that `bareCodesIn` accepts.
 */
export function displaysFor(request: RestRequest, records: readonly (object | string)[]): Promise<Displays> {
  return readDisplays(
    request,
    records.flatMap((record) => (typeof record === 'string' ? bareCodesIn(record) : bareCodes(record))),
  );
}

/** Looks up names for codes, with at most one query. */
export async function readDisplays(
  { services }: RestRequest,
  codes: readonly SystemCode[],
): Promise<Displays> {
  return codes.length === 0 ? new Map() : services.displays(codes);
}

/** Returns a record with its missing displays added; if none are missing, returns the record unchanged. */
export function withDisplays<Fields extends object>(record: Fields, displays: Displays): Fields {
  if (displays.size === 0) return record;
  const own = bareCode(record);
  const display = own === undefined ? undefined : findDisplay(own, displays);
  const inner = Object.entries(record).flatMap(([name, value]) =>
    INNER.has(name) && value !== null ? [[name, addDisplays(value, displays)]] : [],
  );
  return { ...record, ...(display === undefined ? {} : { display }), ...Object.fromEntries(inner) };
}

/** Matches a code without a display in members printed as JSON without backslashes (`ShownCode`, with its members in order). */
const BARE = /"code":"([^"\\]*)","system":"([^"\\]*)","display":null/g;

/**
 * Returns the codes without a display in the text of a record's members. Parsing the text instead would take most of the time
 * for a page of records.
 * @param members JSON without a backslash.
 */
export function bareCodesIn(members: string): SystemCode[] {
  return [...members.matchAll(BARE)].map(([, code = '', system = '']) => ({ system, code }));
}

/** Returns the text of members with missing displays added, like `withDisplays`. */
export function withDisplaysIn(members: string, displays: Displays): string {
  if (displays.size === 0) return members;
  return members.replace(BARE, (all: string, code: string, system: string) => {
    const display = findDisplay({ system, code }, displays);
    return display === undefined ? all : `${all.slice(0, -'null'.length)}${JSON.stringify(display)}`;
  });
}

/** Returns a code's name in a form for people, if the terminology or the concepts include one. */
export function findDisplay({ system, code }: SystemCode, displays: Displays): string | undefined {
  const display = displays.get(`${system}|${code}`);
  return display === undefined ? undefined : cleanName(display, system);
}

/** Members that themselves contain codes. */
const INNER: ReadonlySet<string> = new Set(['components', 'value_code']);

function addDisplays(value: unknown, displays: Displays): unknown {
  if (Array.isArray(value)) return value.map((each) => addDisplays(each, displays));
  return isObject(value) ? withDisplays(value, displays) : value;
}

function bareCodes(record: object): SystemCode[] {
  const own = bareCode(record);
  const { components = null, value_code: coded = null }: { components?: unknown; value_code?: unknown } =
    record;
  const parts = Array.isArray(components) ? components.filter(isObject) : [];
  const inner = [...parts, ...(isObject(coded) ? [coded] : [])].flatMap(bareCodes);
  return own === undefined ? inner : [own, ...inner];
}

function bareCode(record: object): SystemCode | undefined {
  const { system, code, display }: { system?: unknown; code?: unknown; display?: unknown } = record;
  return display === null && typeof system === 'string' && typeof code === 'string'
    ? { system, code }
    : undefined;
}
