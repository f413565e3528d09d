/** Reads members of raw JSON for the second reading; doesn't share any code with the product. */

export type Json = Readonly<Record<string, unknown>>;

/** A version of a resource as it is stored. */
export interface Version {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly resource: Json;
  readonly byAi: boolean;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the values at a path, including those in all list items. */
export function read(value: unknown, path: string): unknown[] {
  return path.split('.').reduce<unknown[]>(
    (values, name) =>
      values.flatMap((each) => {
        const member = isObject(each) ? each[name] : undefined;
        return member === undefined || member === null ? [] : Array.isArray(member) ? member : [member];
      }),
    [value],
  );
}

/** Returns the strings at a path. */
export function texts(value: unknown, path: string): string[] {
  return read(value, path).filter((each) => typeof each === 'string');
}

/** Returns whether the value at a path is `true`. */
export function isTrue(value: unknown, path: string): boolean {
  return read(value, path).includes(true);
}

/** Returns whether a member with this name appears anywhere in a value, at any depth. */
export function mentions(value: unknown, name: string): boolean {
  if (Array.isArray(value)) return value.some((each) => mentions(each, name));
  return isObject(value) && (name in value || Object.values(value).some((each) => mentions(each, name)));
}

/** Returns the codes of a CodeableConcept that have a code system. */
export function codes(value: unknown, path: string): string[] {
  return read(value, `${path}.coding`).flatMap((coding) => {
    const [system] = texts(coding, 'system');
    const [code] = texts(coding, 'code');
    return system === undefined || code === undefined ? [] : [`${system}|${code}`];
  });
}

/** Returns a CodeableConcept's codes in one system. */
export function codesOf(value: unknown, path: string, system: string): string[] {
  return codes(value, path).flatMap((code) =>
    code.startsWith(`${system}|`) ? [code.slice(system.length + 1)] : [],
  );
}

/** Parts of names that people don't use: the semantic tag of a SNOMED CT name, and LOINC's word for a panel. */
const NOTATION: Readonly<Record<string, RegExp>> = {
  'http://snomed.info/sct': / \((?:disorder|finding|situation|procedure|regime\/therapy|body structure)\)$/,
  'http://loinc.org': / with all children optional$/,
};

/**
 * Returns a CodeableConcept's name: its text, or otherwise a display. A code system's name is returned without its notation.
 */
export function nameOf(value: unknown, path: string): string | undefined {
  const codings = read(value, `${path}.coding`);
  const name = texts(value, `${path}.text`)[0] ?? texts(value, `${path}.coding.display`)[0];
  const own = codings.find((coding) => {
    const [display = name] = texts(coding, 'display');
    return display?.toLowerCase() === name?.toLowerCase();
  });
  const notation = NOTATION[texts(own, 'system')[0] ?? ''];
  return notation === undefined ? name : name?.replace(notation, '');
}

/** Returns the reference to a version. */
export function reference({ type, id, version }: Version): string {
  return `${type}/${id}/_history/${version}`;
}
