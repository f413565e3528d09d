/** An application's requests for every kind of query: reads with ids, searches, lists, operations and writes. */
import { GLUCOSE } from './labs/importing.ts';
import { OBR, oru } from './labs/parts.ts';

/** A request; `body` is written as JSON. */
export interface WalkRequest {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  readonly body?: object | string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The status that the response must have. */
  readonly status?: number;
}

/** Ids that the requests use. */
export interface WalkIds {
  /** The Patient's id in the application. */
  readonly patient: string;
  readonly lab: string;
  readonly encounter: string;
  readonly condition: string;
  readonly doctor: string;
  readonly clinic: string;
  readonly claim: string;
  readonly document: string;
  /** A Practitioner in the application's own project. */
  readonly colleague: string;
}

const FHIR = '/fhir/R4';
const get = (url: string): WalkRequest => ({ method: 'GET', url });
const fhir = (path: string): WalkRequest => get(FHIR + path);

/** Returns the requests that read. */
export function readsOf(ids: WalkIds): WalkRequest[] {
  const { patient, lab, encounter, doctor, clinic, claim, document, condition } = ids;
  const v1 = `/v1/patients/${patient}`;
  const searches = [
    ...['', 'code=4548-4', 'category=laboratory', 'category:not=survey', 'code:missing=false', '_sort=date'],
    ...['_sort=-_lastUpdated', '_sort=-_lastUpdated&code=4548-4', `_id=${lab}`, '_lastUpdated=ge2023'],
    ...['date=ge2025-01-01', 'date=ge2025-01-01&_sort=-date', 'value-quantity=gt3', `patient=${patient}`],
    ...[
      `subject=Patient/${patient}&_sort=-date&_count=1`,
      'subject.name=Sand',
      'patient.name=Sand&code=4548-4',
    ],
    ...[
      'performer:Practitioner.name=Ruiz',
      `encounter=${encounter}`,
      'encounter.status=finished',
      '_summary=count',
    ],
    ...[
      '_total=none',
      '_include=*',
      '_include=Observation:patient',
      '_include=Observation:focus',
      '_revinclude=*',
    ],
    ...['_revinclude=Observation:has-member', '_revinclude:iterate=Provenance:target', `has-member=${lab}`],
    ...['code=4548-4&status=final&_sort=code', 'focus:missing=true', '_elements=id&_count=2'],
  ].map((query) => fhir(`/Observation?${query}`));
  return [
    fhir(`/Patient/${patient}`),
    fhir(`/Observation/${lab}`),
    fhir(`/Encounter/${encounter}`),
    fhir(`/Practitioner/${doctor}`),
    fhir(`/Provenance/${claim}`),
    ...searches,
    ...['', 'name=Sand', `_id=${patient}`, '_has:Observation:patient:code=4548-4'].map((q) =>
      fhir(`/Patient?${q}`),
    ),
    ...['', 'status=finished', '_has:Observation:encounter:code=4548-4'].map((q) => fhir(`/Encounter?${q}`)),
    ...['', 'name=Ruiz', '_has:Observation:performer:code=4548-4'].map((q) => fhir(`/Practitioner?${q}`)),
    ...['', 'status=active', `patient=${patient}`].map((q) => fhir(`/Device?${q}`)),
    ...['', `target=Observation/${lab}`, `agent=Practitioner/${doctor}`, 'recorded=ge2023'].map((q) =>
      fhir(`/Provenance?${q}`),
    ),
    fhir('/Provenance?_include=Provenance:target'),
    {
      ...fhir('/_search'),
      method: 'POST',
      type: 'application/x-www-form-urlencoded',
      body: '_type=Observation,Patient,Provenance&_count=3',
    },
    fhir('/_history'),
    fhir('/_history?_count=2'),
    fhir('/Observation/_history?_at=2023'),
    fhir('/Encounter/_history'),
    fhir('/Practitioner/_history'),
    fhir(`/Observation/${lab}/_history`),
    fhir(`/Observation/${lab}/_history?_since=2020`),
    fhir(`/Observation/${lab}/_history/1`),
    fhir(`/Encounter/${encounter}/_history`),
    fhir(`/Patient/${patient}/*`),
    fhir(`/Patient/${patient}/Observation?code=4548-4`),
    fhir(`/Encounter/${encounter}/*`),
    fhir(`/Practitioner/${doctor}/*`),
    fhir(`/Patient/${patient}/$everything`),
    fhir(`/Patient/${patient}/$everything?_count=2&start=2025-01-01`),
    fhir(`/Patient/${patient}/$everything?_type=Provenance,Practitioner`),
    fhir(`/Patient/${patient}/$summary`),
    fhir('/Patient/$summary?identifier=urn:mrn|M-1'),
    fhir(`/Observation/${lab}/$validate`),
    ...['observations', 'conditions', 'medications', 'prescriptions', 'documents', 'timeline'].flatMap(
      (list) =>
        ['', '?limit=1', '?from=2020-01-01&to=2030-01-01'].map((query) => get(`${v1}/${list}${query}`)),
    ),
    get(`${v1}/observations?category=laboratory`),
    get(`/v1/observations/${lab}`),
    get(`/v1/conditions/${condition}`),
    get(`/v1/documents/${document}`),
    get('/v1/patients'),
    get(v1),
    get(`${v1}/grants`),
    get(`${v1}/proposals`),
    get(`${v1}/series?code=4548-4`),
    get(`${v1}/patterns`),
    get(`${v1}/provenance/Observation/${lab}`),
    get(`${v1}/provenance/Encounter/${encounter}`),
    get(`${v1}/provenance/Organization/${clinic}`),
    ...[[], ['labs:4548-4'], ['timeline:180d']].map((needs) => ({
      method: 'POST',
      url: '/v1/context',
      body: { patient, needs },
    })),
  ];
}

/** Returns the requests that write. */
export function writesOf({ patient, lab, doctor, encounter, colleague }: WalkIds): WalkRequest[] {
  const category = [
    {
      coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }],
    },
  ];
  const observation = {
    ...{ resourceType: 'Observation', status: 'final', category, code: { text: 'Glucose' } },
    subject: { reference: `Patient/${patient}` },
    performer: [{ reference: `Practitioner/${doctor}` }],
    encounter: { reference: `Encounter/${encounter}` },
    identifier: [{ system: 'urn:thing', value: 'T-9' }],
  };
  const entry = (request: object, resource: object) => ({ request, resource });
  const v1 = `/v1/patients/${patient}`;
  const post = (url: string, body: object | string, status = 201): WalkRequest => ({
    method: 'POST',
    url,
    body,
    status,
  });
  return [
    post(`${FHIR}/Observation`, observation),
    {
      ...post(`${FHIR}/Observation`, { ...observation, identifier: [{ system: 'urn:thing', value: 'T-8' }] }),
      headers: { 'X-Service-Acting-As': `Practitioner/${colleague}` },
    },
    { method: 'PUT', url: `${FHIR}/Observation/${lab}`, body: { ...observation, id: lab } },
    { method: 'PUT', url: `${FHIR}/Observation?identifier=urn:thing|T-9`, body: observation, status: 412 },
    {
      method: 'PATCH',
      url: `${FHIR}/Observation/${lab}`,
      type: 'application/json-patch+json',
      body: JSON.stringify([{ op: 'replace', path: '/status', value: 'amended' }]),
    },
    post(
      FHIR,
      {
        ...{ resourceType: 'Bundle', type: 'transaction' },
        entry: [
          entry(
            { method: 'POST', url: 'Observation', ifNoneExist: 'identifier=urn:thing|T-10' },
            {
              ...observation,
              performer: [{ reference: 'Practitioner?name=Ruiz' }],
            },
          ),
        ],
      },
      200,
    ),
    post(`${v1}/observations`, {
      code: '4548-4',
      category: 'laboratory',
      effective_at: '2026-01-01T08:00:00Z',
      value: 7,
      unit: '%',
    }),
    post(`${v1}/conditions`, { code: 'E11.9', onset: '2020-01-01' }, 403),
    post(`${v1}/proposals`, {
      operation: 'create',
      resource: observation,
      rationale: 'It was measured.',
      author_type: 'ai',
    }),
    { ...post(`${v1}/labs/import`, oru(OBR, GLUCOSE), 403), type: 'x-application/hl7-v2+er7' },
    { method: 'DELETE', url: `${FHIR}/Observation/${lab}`, status: 204 },
  ];
}

type Paths = Readonly<Record<string, Readonly<Record<string, { readonly security?: readonly object[] }>>>>;

const FORM = 'application/x-www-form-urlencoded';

/**
 * Returns a request for each operation that accepts a grant and isn't used by the other requests. Any response is accepted.
 * @param document the OpenAPI document
 */
export function othersOf(document: object, ids: WalkIds, sent: readonly WalkRequest[]): WalkRequest[] {
  const { paths } = JSON.parse(JSON.stringify(document)) as { paths: Paths };
  const known = sent.map(({ method, url }) => `${method} ${url.replace(/\?.*$/, '')}`);
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { security = [] }]) => security.some((scheme) => 'patientGrant' in scheme))
      .map(([method]) => ({ method: method.toUpperCase(), path }))
      .filter((each) => !known.some((one) => formOf(each).test(one)))
      .map((each) => requestOf(each, ids)),
  );
}

interface Template {
  readonly method: string;
  readonly path: string;
}

function formOf({ method, path }: Template): RegExp {
  const form = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/$_]+');
  return new RegExp(`^${method} ${form}$`);
}

function requestOf({ method, path }: Template, ids: WalkIds): WalkRequest {
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => idFor(name, path, ids));
  if (method === 'GET' || method === 'DELETE')
    return { method, url: url.includes('/series') || url.endsWith('/search') ? `${url}?code=4548-4` : url };
  if (path.endsWith('/_search')) return { method, url, type: FORM, body: '_count=3' };
  if (path.includes('/$')) return { method, url, body: { resourceType: 'Parameters', parameter: [] } };
  return { method, url, body: { family: 'Sand', title: 'Letter', code: 'E11.9' } };
}

/** Returns the value for a path parameter: an id of the type that the path refers to. */
function idFor(name: string, path: string, ids: WalkIds): string {
  const of: Readonly<Record<string, string>> = {
    patient_id: ids.patient,
    resource_type: 'Observation',
    doc_id: ids.document,
    system: 'loinc',
    code: '4548-4',
  };
  const [, about = ''] = /\/(\w+)\/\{(?:rid|item_id)\}/.exec(path) ?? [];
  const byType: Readonly<Record<string, string>> = {
    Patient: ids.patient,
    Encounter: ids.encounter,
    Practitioner: ids.doctor,
    conditions: ids.condition,
  };
  return of[name] ?? byType[about] ?? ids.lab;
}
