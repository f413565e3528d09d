/** Lists every kind of request that reads or writes by id or identifier in the FHIR interface. */
import { newUuid } from '#src/shared/ids.ts';
import { type JsonObject, printJson } from '#src/shared/json/json.ts';
import type { KeyedCall } from '#test/support/in-process.ts';
import { MARKER_SYSTEM, sample, sampleProvenance, WRITABLE_TYPES } from '#test/support/samples.ts';
import { type Named, token } from './theirs.ts';

/** A request. */
export interface Ask {
  readonly path: string;
  readonly call: KeyedCall;
  /** True if the id is in the path, so that the response's status must be one of `refusals`. */
  readonly direct: boolean;
}

/** The resources that the caller owns. */
export interface Own {
  readonly patient: string;
  readonly practitioner: string;
  /** A time at which all of the caller's resources were stored. */
  readonly moment: string;
}

/**
 * Returns the allowed statuses for a request whose path contains an id that never existed. A DELETE succeeds without effect
 * (R4, http.html#delete).
 */
export function refusals({ path, call }: Ask): readonly number[] {
  if (call.method !== 'DELETE' || path.includes('_purge')) return [401, 403, 404, 405];
  return call.headers?.['If-Match'] === undefined ? [204] : [412];
}

const JSON_PATCH = { 'Content-Type': 'application/json-patch+json' };
const PATCHED = '[{"op":"add","path":"/language","value":"de"}]';

/** Returns the requests for an id. For each type, their number and order are always the same. */
export function asksOf(named: Named, own: Own): Ask[] {
  return [
    ...direct(named, own),
    ...searches(named),
    ...asOf(named, own),
    ...writes(named, own),
    ...bundles(named, own),
  ];
}

const get = (path: string, headers: Record<string, string> = {}, direct = false): Ask => ({
  path,
  call: { headers },
  direct,
});
const send = (method: string, path: string, body?: string, headers: Record<string, string> = {}): Ask => ({
  path,
  call: { method, headers, ...(body === undefined ? {} : { body }) },
  direct: false,
});
const form = (path: string, body: string): Ask =>
  send('POST', path, body, { 'Content-Type': 'application/x-www-form-urlencoded' });

function direct({ type, id }: Named, { moment }: Own): Ask[] {
  const at = `/${type}/${id}`;
  const then = `_asOf=${moment}`;
  const body = JSON.stringify({ resourceType: type, id });
  const ofPatients = [
    get(`${at}/$everything`),
    send('POST', `${at}/$everything`),
    get(`${at}/$summary`),
    send('POST', `${at}/$summary`),
    get(`${at}/*`),
    get(`${at}/Observation`),
    get(`${at}/Observation?code=x`),
    get(`${at}/Provenance`),
    form(`${at}/_search`, '_count=1'),
    form(`${at}/Observation/_search`, '_count=1'),
    send('DELETE', `${at}?_purge=true`),
    get(`${at}/$everything?${then}`),
    get(`${at}/$summary?${then}`),
    get(`${at}/Observation?${then}`),
  ];
  return [
    get(at),
    { ...get(at), call: { method: 'HEAD' } },
    get(at, { 'If-None-Match': 'W/"1"' }),
    get(at, { 'If-Modified-Since': 'Sat, 01 Jan 2050 00:00:00 GMT' }),
    get(`${at}?_elements=id`),
    get(`${at}?${then}`),
    get(`${at}/_history?${then}`),
    get(`${at}/_history`),
    get(`${at}/_history?_count=1`),
    get(`${at}/_history/1`),
    get(`${at}/_history/2`),
    send('PUT', at, body),
    send('PATCH', at, PATCHED, JSON_PATCH),
    send('PATCH', at, PATCHED, { ...JSON_PATCH, 'If-Match': 'W/"1"' }),
    send('DELETE', at),
    send('DELETE', at, undefined, { 'If-Match': 'W/"1"' }),
    send('POST', at, body),
    get(`${at}/$validate`),
    ...(type === 'Patient' ? ofPatients : []),
  ].map((ask) => ({ ...ask, direct: true }));
}

function searches({ type, id, marker }: Named): Ask[] {
  const reference = `${type}/${id}`;
  const identifier = `identifier=${token(marker)}`;
  return [
    get(`/${type}?_id=${id}`),
    get(`/${type}?_id=${id}&_summary=count`),
    get(`/${type}?_id=${id}&_revinclude=Provenance:target&_revinclude=*`),
    form(`/${type}/_search`, `_id=${id}`),
    get(`/?_type=Patient,${type}&_id=${id}`),
    get(`/${type}?_id=${id}&_total=estimate`),
    ...(type === 'Provenance'
      ? []
      : [
          get(`/${type}?${identifier}&_include=*`),
          get(`/${type}?identifier:of-type=${encodeURIComponent(`x|y|${marker}`)}`),
        ]),
    get(`/Observation?subject=${reference}`),
    get(`/Observation?patient=${id}`),
    get(`/Observation?performer=${reference}&_include=Observation:performer`),
    get(`/Observation?subject:Patient.${identifier}`),
    get(`/Observation?performer:Practitioner.${identifier}`),
    get(`/Patient?_has:Observation:patient:${identifier}`),
    get(`/Patient?_has:Encounter:patient:_id=${id}`),
    get(`/Patient?organization=${reference}`),
    get(`/Patient?organization.${identifier}`),
    get(`/Patient?general-practitioner:Practitioner.${identifier}`),
    get(`/PractitionerRole?practitioner.${identifier}&_include=PractitionerRole:practitioner`),
    get(`/Provenance?target=${reference}`),
    get(`/Provenance?target=${reference}/_history/1`),
    get(`/Provenance?agent=${reference}`),
    get(`/Provenance?patient=${id}`),
    get(`/_history?_since=${encodeURIComponent('2999-01-01T00:00:00Z')}`),
  ];
}

function asOf({ type, id, marker }: Named, { moment }: Own): Ask[] {
  const then = `_asOf=${moment}`;
  return [
    get(`/Observation?patient=${id}&${then}`),
    get(`/Observation?subject=Patient/${id}&_include=*&${then}`),
    get(`/Provenance?patient=${id}&${then}`),
    get(`/${type}?_id=${id}&${then}`),
    get(`/${type}?identifier=${token(marker)}&${then}`),
  ];
}

function writes({ type, id, marker }: Named, { patient, practitioner }: Own): Ask[] {
  const reference = `${type}/${id}`;
  const identifier = `identifier=${token(marker)}`;
  const observation = (more: JsonObject) =>
    printJson({ ...sample('Observation', { patient }, { marker: 'own' }), ...more });
  const own = WRITABLE_TYPES.find((writable) => writable === type);
  const body = printJson(sample(own ?? 'Patient', { patient }, { marker }));
  const resources = `/${own ?? 'Patient'}`;
  const acting = ['X-Service-Acting-As', 'X-Service-Author-Ref', 'X-Service-On-Behalf-Of'];
  return [
    send('POST', '/Observation', observation({ subject: { reference: `Patient/${id}` } })),
    send('POST', '/Observation', observation({ performer: [{ reference }] })),
    send('POST', '/Observation', observation({ performer: [{ reference: `${reference}/_history/1` }] })),
    send('POST', '/Provenance', printJson(sampleProvenance([reference], practitioner))),
    send('POST', '/Observation/$validate', observation({ performer: [{ reference }] })),
    send('POST', '/$validate', observation({ subject: { reference: `Patient/${id}` } })),
    send('POST', resources, body, { 'If-None-Exist': identifier }),
    send('POST', resources, body, { 'If-None-Exist': `_id=${id}` }),
    send('PUT', `${resources}?${identifier}`, body),
    send('PUT', `${resources}?_id=${id}`, body),
    send('PATCH', `${resources}?_id=${id}`, PATCHED, JSON_PATCH),
    send('DELETE', `${resources}?_id=${id}`),
    send('DELETE', `${resources}?${identifier}`),
    send('PATCH', `${resources}?${identifier}`, PATCHED, JSON_PATCH),
    ...acting.map((header) =>
      send('POST', '/Patient', '{"resourceType":"Patient"}', { [header]: reference }),
    ),
  ];
}

function bundles({ type, id, marker }: Named, { patient }: Own): Ask[] {
  const reference = `${type}/${id}`;
  const search = `Patient?identifier=${MARKER_SYSTEM}|${marker}`;
  const entries: readonly (readonly JsonObject[])[] = [
    [{ request: { method: 'GET', url: reference } }],
    [{ request: { method: 'GET', url: `${reference}/_history/1` } }],
    [{ request: { method: 'GET', url: search } }],
    [{ request: { method: 'DELETE', url: reference } }],
    [{ request: { method: 'PUT', url: reference }, resource: { resourceType: type, id } }],
    [entryOf({ subject: { reference: search } }, patient)],
    [entryOf({ performer: [{ reference }] }, patient)],
    [
      entryOf({ subject: { reference: `Patient/${id}` } }, patient),
      { request: { method: 'GET', url: reference } },
    ],
  ];
  return entries.flatMap((entry) =>
    ['transaction', 'batch'].map((kind) =>
      send('POST', '', printJson({ resourceType: 'Bundle', type: kind, entry: [...entry] })),
    ),
  );
}

function entryOf(more: JsonObject, patient: string): JsonObject {
  const resource = { ...sample('Observation', { patient }, { marker: 'own' }), ...more };
  return { fullUrl: `urn:uuid:${newUuid()}`, resource, request: { method: 'POST', url: 'Observation' } };
}
