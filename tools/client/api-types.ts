/**
 * Converts the OpenAPI document to types for the TypeScript client: the document's schemas, and what each operation accepts
 * and returns.
 */

import { FHIR_SCHEMAS } from '#src/http/openapi/fhir-schemas.ts';

/** A part of the document. */
type Part = Readonly<Record<string, unknown>>;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
/** Matches the interfaces whose operations the client calls by path; FHIR has separate types. */
const INTERFACES = /^\/(?:v1|admin|me)\//;

/** Schemas of FHIR's resources. */
const FHIR = new Set(Object.keys(FHIR_SCHEMAS));

/**
 * Returns the generated module's text.
 * @throws Error if two inputs of an operation have the same name
 */
export function writeApiTypes(document: Part): string {
  const components = partAt(document, 'components');
  const schemas = Object.entries(partAt(components, 'schemas')).filter(([name]) => !FHIR.has(name));
  const types = schemas.map(([name, schema]) => {
    const { description } = schema as Part;
    return `${commentOn(description, '')}export type ${name} = ${writeType(schema as Part, '')};`;
  });
  const operations = METHODS.map((method) => {
    const members = Object.entries(partAt(document, 'paths')).flatMap(([path, methods]) => {
      const operation = (methods as Part)[method] as Part | undefined;
      return operation === undefined || !INTERFACES.test(path) ? [] : [writeOperation(path, operation)];
    });
    return `  ${method.toUpperCase()}: {\n${members.join('\n')}\n  };`;
  });
  return `/** Generated from the OpenAPI document by \`npm run generate\`. */
${types.join('\n\n')}

/** What each operation takes (\`path\`, \`query\`, \`body\`) and returns, by method and path. */
export interface Operations {
${operations.join('\n')}
}
`;
}

function writeOperation(path: string, operation: Part): string {
  const parameters = ((operation.parameters ?? []) as Part[]).filter(({ in: place }) => place !== undefined);
  const names = parameters.filter(({ in: place }) => place !== 'header').map(({ name }) => String(name));
  const twice = names.find((name, i) => name === 'body' || names.indexOf(name) !== i);
  if (twice !== undefined) throw new Error(`${path} has two inputs called ${twice}`);
  const inputs = (place: string): string => {
    const found = parameters.filter((each) => each.in === place);
    if (found.length === 0) return '{}';
    return `{ ${found
      .map(({ name, required, schema }) => {
        const optional = required === true ? '' : '?';
        const type = writeType(schema as Part, '      ');
        const one = /^(\w+)\[\]$/.exec(type)?.[1];
        return `${name}${optional}: ${one === undefined ? type : `${one} | readonly ${one}[]`}`;
      })
      .join('; ')} }`;
  };
  const { summary } = operation;
  const takes = `path: ${inputs('path')}; query: ${inputs('query')}`;
  return `${commentOn(summary, '    ')}    '${path}': { ${takes}; body: ${bodyOf(operation)}; answer: ${answerOf(operation)} };`;
}

function bodyOf({ requestBody }: Part): string {
  if (requestBody === undefined) return 'undefined';
  const { content, required } = requestBody as Part;
  const types = Object.entries(content as Part).map(([media, value]) =>
    media === 'application/json' ? writeType((value as Part).schema as Part, '    ') : 'BodyInit',
  );
  return [...new Set(types), ...(required === true ? [] : ['undefined'])].join(' | ');
}

function answerOf({ responses }: Part): string {
  const types = Object.entries(responses as Part)
    .filter(([status]) => status.startsWith('2'))
    .map(([, response]) => {
      const [first] = Object.entries(((response as Part).content ?? {}) as Part);
      if (first === undefined) return 'undefined';
      const [media, value] = first;
      return media.includes('json') ? writeType((value as Part).schema as Part, '    ') : 'Blob';
    });
  // Some outcomes, such as an upload that another request has overtaken, are answered with 204; all other responses have a
  // body.
  const told = types.filter((type) => type !== 'undefined');
  return [...new Set(told.length === 0 ? types : told)].join(' | ');
}

/** Returns the TypeScript type for what a schema allows. */
function writeType(schema: Part, indent: string): string {
  const { $ref, const: only, enum: values, anyOf, oneOf, allOf, type } = schema;
  if (typeof $ref === 'string') return $ref.split('/').at(-1) ?? 'unknown';
  if (only !== undefined) return quote(only);
  if (Array.isArray(values)) return values.map(quote).join(' | ');
  const alternatives = anyOf ?? oneOf;
  if (Array.isArray(alternatives))
    return [...new Set(alternatives.map((each: Part) => writeType(each, indent)))].join(' | ');
  if (Array.isArray(allOf)) return allOf.map((each: Part) => writeType(each, indent)).join(' & ');
  if (Array.isArray(type))
    return type.map((each: string) => writeType({ ...schema, type: each }, indent)).join(' | ');
  if (type === 'null') return 'null';
  if (type === 'string') return 'string';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'boolean') return 'boolean';
  if (type === 'array') {
    const items = writeType((schema.items ?? {}) as Part, indent);
    return /[|&]/.test(items.replace(/\{[\s\S]*\}/, '')) ? `(${items})[]` : `${items}[]`;
  }
  if (type === 'object') return writeObject(schema, indent);
  return 'unknown';
}

function writeObject(schema: Part, indent: string): string {
  const properties = Object.entries((schema.properties ?? {}) as Part);
  const required = new Set((schema.required ?? []) as string[]);
  const { additionalProperties: others } = schema;
  const open = others === undefined || others === true;
  if (properties.length === 0) {
    if (others === false) return 'Record<string, never>';
    return `Record<string, ${open ? 'unknown' : writeType(others as Part, indent)}>`;
  }
  const inner = `${indent}  `;
  const members = properties.map(([name, property]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name);
    const { description } = property as Part;
    const optional = required.has(name) ? '' : '?';
    return `${commentOn(description, inner)}${inner}${key}${optional}: ${writeType(property as Part, inner)};`;
  });
  if (others !== false) members.push(`${inner}[name: string]: unknown;`);
  return `{\n${members.join('\n')}\n${indent}}`;
}

function commentOn(text: unknown, indent: string): string {
  if (typeof text !== 'string' || text === '') return '';
  return `${indent}/** ${text.replaceAll('*/', '*\\/').replace(/\s+/g, ' ')} */\n`;
}

function quote(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value);
}

function partAt(part: Part, name: string): Part {
  return (part[name] ?? {}) as Part;
}
