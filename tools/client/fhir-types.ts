/**
 * Converts the tables of FHIR's definitions to TypeScript types for the resource types that the service supports, and for
 * their search parameters.
 */
import type { CompactType, StructureTable } from '#src/fhir/definitions/tables.ts';

/** Types of resources that the service doesn't store but that occur in its responses. */
const OTHERS = ['Bundle', 'Binary', 'CapabilityStatement', 'Composition', 'OperationOutcome', 'Parameters'];
const NUMBERS = new Set(['decimal', 'integer', 'positiveInt', 'unsignedInt']);
/** Value sets with more codes than this are typed as strings. */
const MOST_CODES = 30;

/**
 * Returns the generated module's text.
 * @param names the service's resource types
 * @param parameters the names of search parameters by type
 */
export function writeFhirTypes(
  names: readonly string[],
  table: StructureTable,
  parameters: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): string {
  const resources = [...names, ...OTHERS];
  const reached = new Set<string>(['Element', 'Resource', ...resources]);
  const codes = new Map<string, string>();
  const written: string[] = [];
  for (const name of reached) {
    const definition = table.types[name];
    if (definition === undefined) throw new Error(`there is no definition of ${name}`);
    if (definition.base !== undefined) reached.add(definition.base);
    written.push(writeInterface(name, definition, resources.includes(name)));
  }

  function writeInterface(name: string, { base, elements }: CompactType, concrete: boolean): string {
    const members = Object.entries(elements).flatMap(([element, text]) =>
      name === 'Bundle.entry' && element === 'resource' ? ['  resource?: T;'] : writeElement(element, text),
    );
    if (concrete) members.unshift(`  resourceType: '${name}';`);
    if (name === 'Resource') members.unshift('  resourceType: string;');
    if (base === undefined)
      members.push(
        '  /** Id and extensions of a primitive element: `_birthDate` of `birthDate`. */',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
        '  [ofPrimitive: `_${string}`]: Element | (Element | null)[] | undefined;',
      );
    const generic = name === 'Bundle' || name === 'Bundle.entry' ? '<T = FhirResource>' : '';
    const parent = base === undefined ? '' : ` extends ${nameType(base)}`;
    return `export interface ${nameType(name)}${generic}${parent} {\n${members.join('\n')}\n}`;
  }

  function writeElement(element: string, text: string): string[] {
    const [cardinality = '', types = '', bound] = text.split(' ');
    const list = /\.\.(?!1\D*$|0)/.test(cardinality);
    const optional = cardinality.startsWith('0') ? '?' : '';
    const alternatives = splitTypes(types);
    if (!element.endsWith('[x]')) {
      const type = writeType(alternatives[0] ?? 'string', bound);
      return [
        `  ${element}${optional}: ${type.includes(' ') && list ? `(${type})` : type}${list ? '[]' : ''};`,
      ];
    }
    return alternatives.map((type) => {
      const suffix = type.charAt(0).toUpperCase() + type.slice(1).replace(/\(.*/, '');
      return `  ${element.slice(0, -3)}${suffix}?: ${writeType(type, bound)};`;
    });
  }

  function writeType(type: string, bound: string | undefined): string {
    if (type.startsWith('Reference')) {
      reached.add('Reference');
      return 'Reference';
    }
    const name = type.replace(/^#/, '');
    if (name === 'Resource') return 'FhirResource';
    if (NUMBERS.has(name)) return 'number';
    if (name === 'boolean') return 'boolean';
    if (/^[a-z]/.test(name)) return name === 'code' && bound !== undefined ? writeCodes(bound) : 'string';
    reached.add(name);
    if (name === 'Bundle.entry') return 'BundleEntry<T>';
    return nameType(name);
  }

  function writeCodes(bound: string): string {
    const values = Object.values(table.valueSets[bound] ?? {}).flat();
    if (values.length === 0 || values.length > MOST_CODES) return 'string';
    const name = `${bound
      .split(/[^A-Za-z0-9]/)
      .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
      .join('')}Code`;
    codes.set(name, `export type ${name} = ${values.map((code) => `'${code}'`).join(' | ')};`);
    return name;
  }

  const common = Object.keys(parameters.Resource ?? {});
  const searches = names.map((name) => {
    const all = [...new Set([...Object.keys(parameters[name] ?? {}), ...common])];
    return `  ${name}: ${all.map((code) => `'${code}'`).join(' | ')};`;
  });
  return `/** Generated from HL7's definitions of FHIR R4 by \`npm run generate\`. */

/** The resource types that the service stores, by name. */
export interface ResourceTypes {
${names.map((name) => `  ${name}: ${name};`).join('\n')}
}

/** Any resource of an answer. */
export type FhirResource = ${resources.join(' | ')};

/** The names of the search parameters of each type. */
export interface SearchParameterNames {
${searches.join('\n')}
}

${[...codes.values()].join('\n\n')}

${written.join('\n\n')}
`;
}

/** Splits a list of types at the commas outside parentheses. */
function splitTypes(text: string): string[] {
  return text.match(/[^,(]+(?:\([^)]*\))?/g) ?? [];
}

/** `Observation.component` → `ObservationComponent`. */
function nameType(name: string): string {
  return name.replace(/\.(.)/g, (_, first: string) => first.toUpperCase());
}
