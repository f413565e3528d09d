/**
 * Random requests on every route in the OpenAPI document, about what a grant covers, what it doesn't cover, and what doesn't
 * exist.
 */
import { TYPE_NAMES } from '#src/fhir/types.ts';
import { openApiDocument } from '#src/http/openapi/document.ts';
import { ALL_ROUTES } from '#src/http/routes.ts';
import type { Seen } from './model.ts';
import { CATEGORIES, type World } from './world.ts';

/** A method at a path in the document. */
export interface Place {
  readonly method: string;
  readonly path: string;
  /** Values for `{resource_type}`. */
  readonly types: readonly string[];
  /** True if the route accepts a grant's access token. */
  readonly taken: boolean;
}

interface Operation {
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly name?: string; readonly schema?: { readonly enum?: string[] } }[];
}

/** Returns every method and path in the document that needs a credential. */
export function placesOf(url: string): Place[] {
  const { paths } = JSON.parse(JSON.stringify(openApiDocument(ALL_ROUTES, url))) as {
    paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { security = [] }]) => security.length > 0)
      .map(([method, { security = [], parameters = [] }]) => ({
        method: method.toUpperCase(),
        path,
        types: parameters.find(({ name }) => name === 'resource_type')?.schema?.enum ?? TYPE_NAMES,
        taken: security.some((scheme) => 'patientGrant' in scheme),
      })),
  );
}

/** A request. */
export interface Asked {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The type in the path. */
  readonly type: string | undefined;
}

/** Returns whether a request reaches resources through a reference, for which the letter `s` is sufficient. */
export function reachesFurther({ url, body = '' }: Asked): boolean {
  const queries = [url.split('?')[1] ?? '', body].map((query) => new URLSearchParams(query));
  const names = queries.flatMap((query) => [...query.keys()]);
  return names.some((name) => /^_(?:rev)?include|^_has|\./.test(name));
}

/** What requests name. */
export interface Names {
  readonly world: World;
  readonly seen: Seen;
  /** The application's id for the Patient. */
  readonly patient: string;
}

/** Picks items from lists; the same numbers give the same picks. */
export class Picks {
  #at = 0;
  constructor(private readonly numbers: readonly number[]) {}

  /** Returns a number from 0 up to, but not including, a limit. */
  below(limit: number): number {
    const number = this.numbers[this.#at % this.numbers.length] ?? 0;
    this.#at += 1;
    return number % limit;
  }

  /** Returns an item from a list. */
  of<T>(list: readonly T[]): T {
    const one = list[this.below(list.length)];
    if (one === undefined) throw new RangeError('nothing to pick from');
    return one;
  }
}

const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const FORM = 'application/x-www-form-urlencoded';
const FHIR = '/fhir/R4';

/** Returns whether requests at a place only read. */
export function reads({ method, path }: Pick<Place, 'method' | 'path'>): boolean {
  return method === 'GET' || path.endsWith('/_search') || path.includes('$') || path === '/v1/context';
}

/** Returns a request for an endpoint that doesn't accept access tokens, or that only reads. */
export function requestAt({ method, path, types, taken }: Place, names: Names, picks: Picks): Asked {
  const isForm = path.endsWith('/_search');
  const fixed = /^\/fhir\/R4\/([A-Z]\w+)/.exec(path)?.[1];
  const type = path.includes('{resource_type}') ? picks.of(types.includes('*') ? TYPE_NAMES : types) : fixed;
  const first = path.includes('{rid}/{resource_type}') || path.includes('{rid}/*') ? fixed : type;
  const url = path
    .replace('{resource_type}', type ?? '')
    .replace(/\{(?:vid|version)\}/, () => picks.of(['1', '2', '3', '9', 'x']))
    .replace('{system}', () => picks.of(['loinc', 'atc']))
    .replace('{code}', () => picks.of(['4548-4', 'none']))
    .replace(/\{(?:rid|\w+_id)\}/g, () => idAt(first, names, picks));
  const query = path.startsWith(FHIR) ? fhirQuery(path, type, names, picks) : restQuery(path, picks);
  const headers = { Accept: 'application/json', ...conditional(picks) };
  if (method === 'GET') {
    const asked = query.toString();
    return { method, url: asked === '' ? url : `${url}?${asked}`, headers, type };
  }
  if (isForm)
    return { method, url, headers: { ...headers, 'Content-Type': FORM }, body: query.toString(), type };
  const json = { ...headers, 'Content-Type': 'application/json' };
  if (!taken) return { method, url, headers: json, body: '{}', type };
  if (path === '/v1/context') {
    const patient = idAt('Patient', names, picks);
    const needs = picks.of([[], ['labs:4548-4'], ['timeline:180d']]);
    return { method, url, headers: json, body: JSON.stringify({ patient, needs }), type };
  }
  const parameter = [...query].map(([name, valueString]) => ({ name, valueString }));
  return {
    method,
    url,
    headers: json,
    body: JSON.stringify({ resourceType: 'Parameters', parameter }),
    type,
  };
}

/**
 * Returns an id for a path. Usually it belongs to something visible; otherwise it is hidden, in the other record, or
 * nonexistent.
 */
function idAt(type: string | undefined, { world, seen, patient }: Names, picks: Picks): string {
  const inType = (all: readonly { readonly type: string; readonly id: string }[]) => {
    const some = all.filter((each) => each.type === type);
    return (some.length > 0 ? some : all).map(({ id }) => id);
  };
  if (type === 'Patient' && picks.below(3) > 0) return patient;
  const pools = [
    ...[inType(seen.record), inType(seen.record), inType(seen.record), inType(seen.directory)],
    inType(world.records[world.mine] ?? []),
    inType(world.records[world.other] ?? []),
    [patient, world.mine, world.other, UNKNOWN, 'x'],
  ].filter((pool) => pool.length > 0);
  const id = picks.of(picks.of(pools));
  return picks.below(12) === 0 ? id.toUpperCase() : id;
}

function conditional(picks: Picks): Record<string, string> {
  switch (picks.below(12)) {
    case 0:
      return { 'If-None-Match': picks.of(['W/"1"', 'W/"2"', 'W/"x"', '*']) };
    case 1:
      return {
        'If-Modified-Since': picks.of(['Wed, 01 Jan 2020 00:00:00 GMT', 'Fri, 01 Jan 2100 00:00:00 GMT']),
      };
    case 2:
      return { Range: 'bytes=0-10' };
    case 3:
      return { Prefer: 'handling=strict' };
    default:
      return {};
  }
}

function fhirQuery(path: string, type: string | undefined, names: Names, picks: Picks): URLSearchParams {
  if (path.includes('/_history')) return historyQuery(path, names, picks);
  if (/\$everything/.test(path)) return everythingQuery(picks);
  if (/\$summary$/.test(path))
    return new URLSearchParams(picks.of(['', 'identifier=urn:mrn|M-Sand', 'identifier=urn:mrn|M-Other']));
  if (/\$lookup/.test(path))
    return new URLSearchParams(picks.of(['', 'system=http://loinc.org&code=4548-4']));
  if (path.includes('$'))
    return new URLSearchParams(
      picks.of(['', 'mode=profile', 'url=http://hl7.org/fhir/ValueSet/observation-status']),
    );
  if (path.endsWith('{rid}')) return new URLSearchParams(picks.of(['', '', '_summary=true', '_elements=id']));
  return searchQuery(path, type, names, picks);
}

/**
 * Returns a history query. For instances with gaps, the query uses `_since`, because otherwise the newest number would be the
 * owner's total.
 */
function historyQuery(path: string, _: Names, picks: Picks): URLSearchParams {
  const query = new URLSearchParams();
  if (path.endsWith('{vid}')) return query;
  query.set('_since', picks.of(['1970-01-01', '2000-01-01', '2023-11-14T22:13:20.000030Z', '2100-01-01']));
  if (picks.below(3) === 0) query.set('_count', picks.of(['1', '2', '7', '0', 'x']));
  if (picks.below(6) === 0) query.set('_at', picks.of(['2023', '2023-11-14T22:13:20.000020Z', '2050']));
  return query;
}

function everythingQuery(picks: Picks): URLSearchParams {
  return new URLSearchParams(
    picks.of([
      '',
      '_count=3',
      '_count=1',
      '_type=Observation',
      '_type=Observation,Organization',
      '_type=Provenance&_count=4',
      '_type=Patient,Practitioner',
      'start=2026-01-03&end=2026-01-06',
      '_since=2023-11-14T22:13:20.000030Z',
      '_offset=2&_count=3',
      '_summary=true',
      '_elements=code',
      'unknown=1',
    ]),
  );
}

/** Search parameters; ID is a placeholder that is replaced by an id. */
const PARAMETERS = [
  ...[
    '_sort=_id',
    '_sort=-_lastUpdated',
    '_sort=date',
    '_count=1',
    '_count=2',
    '_count=0',
    '_total=none',
    '_summary=count',
  ],
  ...[
    '_summary=true',
    '_elements=id',
    '_id=ID',
    '_id=ID,ID,ID',
    '_lastUpdated=ge2023',
    '_lastUpdated=2023-11-14T22:13:20.000030Z',
  ],
  ...[
    'category=CATEGORY',
    'category:not=CATEGORY',
    'category:missing=true',
    'code=4548-4',
    'code:missing=false',
    'status=final',
  ],
  ...[
    'patient=ID',
    'subject=Patient/ID',
    'subject:Patient=ID',
    'subject.name=Sand',
    'patient.name=Other',
    'patient.identifier=urn:mrn|M-Sand',
  ],
  ...[
    'identifier=urn:thing|T-3',
    'identifier=T-1,T-2',
    'date=ge2026-01-04',
    'value-quantity=gt3',
    'value-quantity=5||%',
  ],
  ...[
    'focus=Patient/ID',
    'focus:missing=true',
    'has-member=ID',
    'performer=Practitioner/ID',
    'performer:Practitioner.name=Ruiz',
    'result=ID',
  ],
  ...[
    'encounter=ID',
    'encounter.status=finished',
    'link=Patient/ID',
    'link:Patient.name=Other',
    'name=Sand',
    'name=Other',
    'related=ID',
  ],
  ...[
    '_has:Observation:patient:code=4548-4',
    '_has:Observation:focus:code=4548-4',
    '_has:Observation:patient:category=CATEGORY',
  ],
  ...[
    '_has:Condition:patient:code=M10',
    '_has:Observation:has-member:code=718-7',
    '_has:Observation:performer:code=4548-4',
  ],
  ...[
    '_include=*',
    '_include=Observation:patient',
    '_include=Observation:has-member',
    '_include=Observation:performer',
    '_include=Condition:encounter',
  ],
  ...[
    '_include=Provenance:target',
    '_include=Observation:focus',
    '_include=Patient:link',
    '_revinclude=*',
    '_revinclude=Observation:patient',
  ],
  ...[
    '_revinclude=Observation:has-member',
    '_revinclude=Observation:focus',
    '_revinclude=Provenance:target',
    '_revinclude=Condition:patient',
  ],
  ...[
    '_revinclude:iterate=Observation:has-member',
    '_type=Observation',
    '_type=Observation,Patient',
    '_type=Provenance',
    'target=Observation/ID',
  ],
  ...[
    'target=ID',
    'agent=Practitioner/ID',
    'recorded=ge2023',
    'activity=CREATE',
    '_cursor=x',
    '_count=x',
    'unknown=1',
    'date=x',
    'onset-date=2025',
  ],
] as const;

function searchQuery(path: string, type: string | undefined, names: Names, picks: Picks): URLSearchParams {
  const query = new URLSearchParams();
  const isSeveral = type === undefined || path.includes('*') || path.endsWith('{rid}/_search');
  for (let n = picks.below(4); n > 0; n -= 1) {
    const [name = '', value = ''] = picks.of(PARAMETERS).split(/=(.*)/s);
    if ((name === '_type') !== isSeveral && name === '_type') continue;
    const filled = value
      .replaceAll('ID', () =>
        idAt(picks.of(['Patient', type ?? 'Patient', 'Observation', 'Practitioner']), names, picks),
      )
      .replaceAll('CATEGORY', () => picks.of([...CATEGORIES, 'none']));
    query.append(name, filled);
  }
  return query;
}

function restQuery(path: string, picks: Picks): URLSearchParams {
  if (path.includes('/terminology') || path.endsWith('/search'))
    return new URLSearchParams(picks.of(['', 'q=glu']));
  if (
    !/(?:observations|conditions|medications|prescriptions|documents|patients|timeline|series|patterns)$/.test(
      path,
    )
  )
    return new URLSearchParams();
  return new URLSearchParams(
    picks.of([
      '',
      'limit=2',
      'limit=1',
      'category=laboratory',
      'category=laboratory&limit=1',
      'code=4548-4',
      'from=2026-01-03',
      'from=2026-01-03&to=2026-01-05',
      'kinds=observation,condition',
      'kinds=encounter,allergy,report',
      'limit=x',
      'cursor=x',
    ]),
  );
}
