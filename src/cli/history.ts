/** `annal history <Type/id | patient-id>`: who wrote which version, when, and how it came about. */
import { isObject, type Json, type JsonObject } from '#src/shared/json.ts';
import { typeAndId } from './import/references.ts';
import { findService, readFhir, type Service, type ServiceOptions } from './service.ts';
import { resourcePath } from './show.ts';
import { table } from './table.ts';

/** One version and its Provenance. */
export interface VersionLine {
  readonly resource: string;
  readonly version: number;
  readonly recorded: string;
  readonly operation: string;
  /** `patient`, `practitioner`, `device`, `import`, `ai`; null where no Provenance says. */
  readonly author_type: string | null;
  /** `Practitioner/…` or `PractitionerRole/…`. */
  readonly author: string | null;
  readonly on_behalf_of: string | null;
  readonly source_system: string | null;
  readonly provenance: string | null;
}

/** What the command line says. */
export interface HistoryOptions extends ServiceOptions {
  readonly json?: boolean;
}

/**
 * Prints the versions of a resource, newest first; of a patient's id alone, those of the whole record.
 * @throws Failure when the service refuses.
 */
export async function historyCommand(of: string, { json = false, ...where }: HistoryOptions): Promise<void> {
  const service = await findService(where);
  const path = resourcePath(of);
  const lines = of.includes('/') ? await versionsOf(service, path) : await versionsOfRecord(service, path);
  if (json) process.stdout.write(`${JSON.stringify(lines, null, 2)}\n`);
  else process.stdout.write(`${describe(lines, of.includes('/'))}\n`);
}

async function versionsOf(service: Service, path: string): Promise<VersionLine[]> {
  const provenances = new Map<number, VersionLine>();
  const ask = new URLSearchParams({ target: path, _count: '200' });
  for await (const { resource } of entriesOf(service, `Provenance?${ask.toString()}`)) {
    for (const line of isObject(resource) ? fromProvenance(resource) : []) {
      if (line.resource === path) provenances.set(line.version, line);
    }
  }
  const lines: VersionLine[] = [];
  for await (const { request, response, resource } of entriesOf(service, `${path}/_history?_count=200`)) {
    const etag = isObject(response) && typeof response.etag === 'string' ? response.etag : '';
    const version = Number(/\d+/.exec(etag)?.[0] ?? member(resource, 'meta', 'versionId'));
    const at =
      (isObject(response) ? response.lastModified : undefined) ?? member(resource, 'meta', 'lastUpdated');
    lines.push(
      provenances.get(version) ?? {
        ...UNKNOWN,
        resource: path,
        version,
        recorded: typeof at === 'string' ? at : '',
        operation: OPERATIONS[String(isObject(request) ? request.method : '')] ?? '',
      },
    );
  }
  return lines;
}

async function versionsOfRecord(service: Service, patient: string): Promise<VersionLine[]> {
  const lines: VersionLine[] = [];
  for await (const { resource } of entriesOf(service, `${patient}/Provenance?_count=200`)) {
    if (isObject(resource)) lines.push(...fromProvenance(resource));
  }
  return lines.sort((a, b) => (a.recorded < b.recorded ? 1 : a.recorded > b.recorded ? -1 : 0));
}

const UNKNOWN = {
  author_type: null,
  author: null,
  on_behalf_of: null,
  source_system: null,
  provenance: null,
};

const OPERATIONS: Readonly<Record<string, string>> = {
  POST: 'CREATE',
  PUT: 'UPDATE',
  PATCH: 'UPDATE',
  DELETE: 'DELETE',
};

/** The versions that an automatic Provenance is about (interface.md, section 2.4); a client's own has none. */
function fromProvenance(provenance: JsonObject): VersionLine[] {
  const [agent] = Array.isArray(provenance.agent) ? provenance.agent : [];
  const [entity] = Array.isArray(provenance.entity) ? provenance.entity : [];
  const [coding] = array(member(provenance, 'activity', 'coding'));
  return array(provenance.target).flatMap((target) => {
    const reference = text(member(target, 'reference')) ?? '';
    const version = /\/_history\/(\d+)$/.exec(reference)?.[1];
    const named = typeAndId(reference);
    if (version === undefined || named === undefined) return [];
    return {
      resource: `${named.type}/${named.id}`,
      version: Number(version),
      recorded: text(provenance.recorded) ?? '',
      operation: text(member(coding, 'code')) ?? '',
      author_type: text(member(agent, 'who', 'identifier', 'value')) ?? null,
      author: text(member(agent, 'who', 'reference')) ?? null,
      on_behalf_of:
        text(member(agent, 'onBehalfOf', 'display')) ??
        text(member(agent, 'onBehalfOf', 'reference')) ??
        null,
      source_system:
        text(member(entity, 'what', 'display')) ??
        text(member(entity, 'what', 'identifier', 'system')) ??
        null,
      provenance: typeof provenance.id === 'string' ? `Provenance/${provenance.id}` : null,
    };
  });
}

/** The entries of a searchset or a history, page after page. */
async function* entriesOf(service: Service, path: string): AsyncGenerator<JsonObject> {
  for (let next: string | undefined = path; next !== undefined; ) {
    const { value }: { value: JsonObject } = await readFhir(service, next);
    for (const entry of array(value.entry)) {
      // An OperationOutcome about the search itself is no result.
      if (isObject(entry) && member(entry, 'search', 'mode') !== 'outcome') yield entry;
    }
    const link = array(value.link).find((one) => member(one, 'relation') === 'next');
    next = text(member(link, 'url'));
  }
}

function array(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function member(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let now = value;
  for (const name of path) {
    if (!isObject(now)) return undefined;
    now = now[name];
  }
  return now;
}

function describe(lines: readonly VersionLine[], one: boolean): string {
  const by = ({ author, author_type: type }: VersionLine): string => author ?? type ?? '';
  const rows = lines.map((line) => [
    ...(one ? [] : [line.resource]),
    line.version,
    line.recorded,
    line.operation,
    by(line),
    line.on_behalf_of ?? '',
    line.source_system ?? '',
  ]);
  const heading = ['Version', 'Recorded', 'Operation', 'By', 'On behalf of', 'Source system'];
  return table(one ? heading : ['Resource', ...heading], rows);
}
