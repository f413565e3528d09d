/** Writes docs/events.md and docs/configuration.md from the schemas; a test checks that the files match. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { configurationTable } from '#src/config.ts';
import { CATALOG } from '#src/events/catalog.ts';
import { metadataSchema } from '#src/events/metadata.ts';

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly prefixItems?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly string[];
  readonly const?: unknown;
}

/** Returns the generated pages as a map from file name to text. */
export function generatedPages(): Map<string, string> {
  return new Map([
    ['events.md', eventsPage()],
    ['configuration.md', configurationPage()],
  ]);
}

function eventsPage(): string {
  const sections = Object.entries(CATALOG).map(
    ([type, { version, says, streams, data }]) =>
      `## ${type}\n\n${says}\n\nVersion ${version}. Streams: ${streams
        .split(', ')
        .map((prefix) => `\`${prefix}…\``)
        .join(', ')}\n\n${fields(z.toJSONSchema(data) as JsonSchema)}`,
  );
  return `# Events

Generated from the schemas in \`src/events/\` by \`npm run generate\`. Events are facts, named in the past tense, and are never rewritten.

## Versions

Each type has a version. An event's metadata contains this version as \`schema_version\`. The tables below show the current version of each type. Events with earlier versions stay in the log as they were written, and the hash chain covers those bytes; when the events are read, the functions in \`src/events/upcast/\` convert their data to the current version. Resource bodies are never changed this way.

If an instance reads an event with an unknown type, or with a version newer than it knows, it doesn't skip the event: the projection, process, write, rebuild or verification that reads the event stops and reports it. The instance leaves its projections and processes to a newer instance, reports this in its log and in \`/health/ready\`, and returns 503 for writes to that record. Upgrade the instance. See [decision 0018](decisions/0018-event-evolution.md); for the steps to change an event, see [CONTRIBUTING.md](../CONTRIBUTING.md#changing-an-event).

${sections.join('\n\n')}

## Metadata of every event

${fields(z.toJSONSchema(metadataSchema) as JsonSchema)}

In the stored form, the metadata's last member is \`hash\`: the SHA-256 over the previous event's hash and the stored stream, revision, id, type, data and metadata (\`src/events/chain.ts\`).
`;
}

function configurationPage(): string {
  const rows = configurationTable().map(({ name, default: value, description }) => [
    `\`${name}\``,
    value === undefined ? '' : `\`${value}\``,
    description,
  ]);
  return `# Configuration

Generated from the schema in \`src/config.ts\` by \`npm run generate\`. The service reads these environment variables once, at startup; if a variable is invalid, the service exits with a message that names it.

${table(['Variable', 'Default', 'Meaning'], rows)}
`;
}

function fields(schema: JsonSchema): string {
  return table(['Field', 'Type', ''], makeRows(schema, ''));
}

/** Returns a table as Markdown formatters print it, with aligned columns, so that formatting the page changes nothing. */
function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heading.map((name, i) =>
    Math.max(3, name.length, ...rows.map((row) => (row[i] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, i) => (cells[i] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(heading), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

function makeRows(schema: JsonSchema, prefix: string): string[][] {
  const required = new Set(schema.required);
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const path = `${prefix}${name}`;
    const optional = required.has(name) ? '' : ' (optional)';
    const row = [`\`${path}\``, `${typeName(property)}${optional}`, property.description ?? ''];
    const inside = property.items?.properties === undefined ? property : property.items;
    return [row, ...makeRows(inside, property.items === undefined ? `${path}.` : `${path}[].`)];
  });
}

function typeName({ type, anyOf, enum: values, const: only, items, prefixItems }: JsonSchema): string {
  if (anyOf !== undefined) return anyOf.map(typeName).join(' or ');
  if (only !== undefined) return `\`${JSON.stringify(only)}\``;
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(' ');
  if (prefixItems !== undefined) return `[${prefixItems.map(typeName).join(', ')}]`;
  if (items !== undefined) return `list of ${typeName(items)}`;
  return type === undefined ? 'any' : [type].flat().join(' or ');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of generatedPages())
    await writeFile(new URL(`../../docs/${name}`, import.meta.url), text);
}
