/** Creates signed exports for auditors: a record, a resource's history, or a search response, as one file. */
import { z } from 'zod';
import { type ResourceType, TYPE_NAMES } from '#src/fhir/types.ts';
import { ownCaller } from '#src/shared/access/caller.ts';
import { AnswerBudget } from '#src/shared/load/answer-budget.ts';
import { notFound, Refusal, unavailable } from '#src/shared/refusal.ts';
import { parsePrefer } from '../../answer/negotiation.ts';
import { whileAllowed } from '../../answer/while-allowed.ts';
import { type ApiRequest, route } from '../../api/route.ts';
import { environment } from '../../api/schemas.ts';
import { faultOfPast } from '../../as-of.ts';
import { AS_OF } from '../../fhir/as-of.ts';
import { search, searchCompartment } from '../../fhir/search.ts';
import type { SignedFile } from '../../ports/audit.ts';
import { projectFor } from '../access.ts';
import { noteReads, requireOpen } from '../record-reads.ts';
import { patientId, resourceId } from './ids.ts';

const TAG = 'Audit';
/** The access-log action for exports. */
const EXPORT = 'export';
/** Maximum number of versions in an exported search response. Each version is looked up in the log. */
const MOST_ENTRIES = 200;

const as_of = z
  .string()
  .max(60)
  .refine(
    (text) => faultOfPast(text) === undefined,
    'must be an instant with seconds and a time zone, not in the future',
  )
  .optional()
  .describe('An instant: export the state at that time. Default: now.');

const SEARCH = /^(?:Patient\/([\w-]{1,64})\/)?([A-Z][A-Za-z]{1,60})(?:\?(.*))?$/s;

const body = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('record').describe('All events in a patient’s record.'),
    patient: patientId,
    as_of,
  }),
  z.strictObject({
    kind: z.literal('history').describe('All versions of a resource.'),
    resource: resourceId,
    as_of,
  }),
  z.strictObject({
    kind: z.literal('search').describe('The answer to a search.'),
    query: z
      .string()
      .max(2_000)
      .regex(SEARCH, 'must be a search such as Observation?patient=… or Patient/<id>/Observation?code=…')
      .describe('A search below `/fhir/R4/`: `Observation?patient=…`, `Patient/<id>/Observation?…`.'),
    environment: environment.default('sandbox'),
    as_of,
  }),
]);

type Asked<Kind> = Extract<z.output<typeof body>, { readonly kind: Kind }>;
type Exporting = ApiRequest<'/admin/projects/{project_id}/exports', 'identity'>;

/** A file to send. */
interface Made {
  readonly name: string;
  readonly file: SignedFile;
}

async function exportRecord(
  request: Exporting,
  project: string,
  { patient, as_of }: Asked<'record'>,
): Promise<Made> {
  const { audit } = request.services;
  const home = await audit.findHome(project, 'Patient', patient);
  if (home === undefined) throw notFound('Patient', patient);
  requireOpen(request, home.environment);
  const file = await audit.exportRecord(patient, as_of);
  if (file === undefined) throw missing(`Patient/${patient} has no record`, as_of);
  await noteReads(request, { environment: home.environment, action: EXPORT, resourceType: null }, [
    { record: patient, count: null },
  ]);
  return { name: `record-${patient}`, file };
}

async function exportHistory(
  request: Exporting,
  project: string,
  { resource, as_of }: Asked<'history'>,
): Promise<Made> {
  const { audit } = request.services;
  const [type = '', id = ''] = resource.split('/');
  const home = await audit.findHome(project, type, id);
  if (home === undefined) throw notFound(type, id);
  requireOpen(request, home.environment);
  const file = await audit.exportHistory({ project, ...home }, resource, as_of);
  if (file === undefined) throw missing(`${resource} has no versions`, as_of);
  if (home.record !== null)
    await noteReads(
      request,
      { environment: home.environment, action: EXPORT, resourceType: type, resourceId: id },
      [{ record: home.record, count: null }],
    );
  return { name: `history-${type}-${id}`, file };
}

/** Returns whether a search includes the Provenances of the resources that it finds. */
function includesProvenance(parameters: URLSearchParams): boolean {
  return [...parameters].some(
    ([name, value]) => /^_revinclude(?::|$)/.test(name) && /^(?:Provenance:|\*)/.test(value),
  );
}

async function exportSearch(
  request: Exporting,
  { id: project, filling }: { readonly id: string; readonly filling: boolean },
  { query, environment: of, as_of }: Asked<'search'>,
): Promise<Made> {
  const { services, identity } = request;
  const { audit, freshness, queries, config } = services;
  requireOpen(request, of);
  const [, patient, typeName = '', text = ''] = SEARCH.exec(query) ?? [];
  const type = TYPE_NAMES.find((each) => each === typeName);
  if (type === undefined) throw wrongQuery(`${typeName} is not a type that can be searched`);
  const parameters = new URLSearchParams(text);
  if (type === 'Provenance' || includesProvenance(parameters))
    throw wrongQuery(
      'the service derives these Provenances from events: export the history of their target instead',
    );
  if (parameters.has(AS_OF)) throw wrongQuery('must not have _asOf: use as_of');
  if (as_of !== undefined) parameters.set(AS_OF, as_of);
  const position = await audit.position();
  if (!(await freshness.waitFor(position, ['resources', 'search', 'history'])))
    throw unavailable('the read models lag behind the log; retry in a second');
  const tenant = { project, environment: of };
  const { issuer, subject } = identity;
  const caller = ownCaller(
    tenant,
    { kind: 'member', issuer, subject },
    ['read'],
    filling && of === 'sandbox',
  );
  const base = `${config.baseUrl}/fhir/R4/`;
  const asked = {
    service: { base, queries, freshness },
    caller,
    query: parameters,
    prefer: parsePrefer('handling=strict'),
    budget: new AnswerBudget(),
  };
  const { body: answered = '' } = await (patient === undefined
    ? search(asked, type)
    : searchCompartment(asked, { type: 'Patient', id: patient }, type));
  const bundle = answered.toString();
  const { entry = [], link = [] } = JSON.parse(bundle) as {
    readonly entry?: readonly object[];
    readonly link?: readonly { readonly relation: string }[];
  };
  if (entry.length > MOST_ENTRIES)
    throw wrongQuery(
      `has ${entry.length} results; at most ${MOST_ENTRIES} can be exported: use _count=${MOST_ENTRIES}`,
    );
  const versions = await audit.showVersions(tenant, bundle);
  await noteSearch(request, of, type, versions);
  const file = await audit.exportSearch({
    ...tenant,
    query,
    asOf: as_of,
    position,
    complete: !link.some(({ relation }) => relation === 'next'),
    bundle,
    versions,
  });
  return { name: `search-${type}`, file };
}

/** Records an exported search response in the access log of each patient whose resources it shows. */
async function noteSearch(
  request: Exporting,
  of: z.output<typeof environment>,
  type: ResourceType,
  versions: readonly { readonly record: string | null }[],
): Promise<void> {
  const counts = new Map<string, number>();
  for (const { record } of versions) if (record !== null) counts.set(record, (counts.get(record) ?? 0) + 1);
  await noteReads(
    request,
    { environment: of, action: EXPORT, resourceType: type, resourceId: null },
    [...counts].map(([record, count]) => ({ record, count })),
  );
}

function wrongQuery(what: string): Refusal {
  return new Refusal('invalid', { code: 'value', diagnostics: `query ${what}`, expression: 'query' });
}

function missing(what: string, asOf: string | undefined): Refusal {
  return new Refusal('not_found', {
    code: 'not-found',
    diagnostics: `${what}${asOf === undefined ? '' : ` as of ${asOf}`}`,
  });
}

/** Routes of exports. */
export const EXPORT_ROUTES = [
  route({
    method: 'POST',
    path: '/admin/projects/{project_id}/exports',
    operationId: 'exportSigned',
    summary: 'A signed file with a record, a resource’s history, or the answer to a search',
    description:
      '`node bin/verify-export.mjs FILE --key PUBLICKEY` checks the file without the service; docs/audit.md says what each kind proves. If the hash chain is broken, no file is made (409). The answer to a search has at most 200 results. Requires the role auditor. The request is a read (`export`) of each record that the file is about.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    models: ['projects', 'resources', 'history'],
    body: body.meta({
      examples: [{ kind: 'record', patient: '01a227be-9c0a-723c-9ea7-1599e08e91ba' }],
    }),
    answers: { 200: { description: 'The file, lines of JSON (`application/x-ndjson`)', bytes: true } },
    async run(request) {
      const { params, body: asked } = request;
      const project = await projectFor(request, params.project_id, 'auditor');
      const { name, file } = await (asked.kind === 'record'
        ? exportRecord(request, project.id, asked)
        : asked.kind === 'history'
          ? exportHistory(request, project.id, asked)
          : exportSearch(request, project, asked));
      return {
        status: 200,
        reads: true,
        headers: {
          'Content-Type': 'application/x-ndjson',
          'Content-Disposition': `attachment; filename="${name}.ndjson"`,
        },
        stream: whileAllowed(file, () => projectFor(request, project.id, 'auditor')),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/exports/key',
    operationId: 'getExportKey',
    summary: 'The public key that exports and checkpoints are signed with',
    description:
      'For comparison: an auditor who doesn’t trust this service gets the key from somewhere else. Requires the role auditor.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: {
      200: {
        description: 'The key',
        schema: z.object({
          key_id: z.string().describe('JWK thumbprint (RFC 7638).'),
          public_key: z.string().describe('The 32 bytes of the Ed25519 key, base64url.'),
        }),
      },
    },
    async run(request) {
      await projectFor(request, request.params.project_id, 'auditor');
      const { id, text } = await request.services.audit.readKey();
      return { status: 200, body: { key_id: id, public_key: text } };
    },
  }),
];
