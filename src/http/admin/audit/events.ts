/**
 * Shows auditors the events in a project's log: a search that doesn't show their contents, and single events with their proof.
 */
import { z } from 'zod';
import type { EventRow } from '#queries/audit/events.ts';
import { type CredentialIds, type CredentialNames, credentialKey } from '#queries/audit/names.ts';
import { AUTHOR_TYPES } from '#src/shared/access/author.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import { isObject, type Json, parseJson, printJson } from '#src/shared/json/json.ts';
import { type Difference, differences } from '#src/shared/json/json-difference.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { type ApiRequest, route } from '../../api/route.ts';
import { environment, instant, LIST_QUERY } from '../../api/schemas.ts';
import { texts } from '../../pages/texts.ts';
import type { LoggedEvent } from '../../ports/audit.ts';
import { projectFor } from '../access.ts';
import { PERIOD_QUERY, periodIn, periodInOrder } from '../period.ts';
import { LANGUAGE_QUERY } from '../record/language-query.ts';
import { mayShow, noteReads, requireOpen, requireOpenOnPages } from '../record-reads.ts';
import { covering } from './covering.ts';
import { applicationId, keyId, patientId, typeOrResource } from './ids.ts';
import { type EventNames, readNames, UNNAMED } from './titles.ts';

const TAG = 'Audit';

const credential = z.object({
  kind: z
    .enum(['api_key', 'id_token', 'client', 'grant', 'system'])
    .describe('`client`, `grant`: an application’s token; `system`: the service itself.'),
  name: z
    .string()
    .nullable()
    .describe(
      'The name of the key, with its last four characters, or of the application; for a member, the e-mail address.',
    ),
  key: z.string().nullable(),
  application: z.string().nullable(),
  grant: z.string().nullable(),
  issuer: z.string().nullable(),
  subject: z.string().nullable(),
});

const named = z.object({ reference: z.string().nullable(), display: z.string().nullable() });

const eventSchema = z
  .object({
    id: z.string(),
    recorded_at: instant,
    type: z.string().describe('The event’s type: docs/events.md.'),
    environment: environment.nullable().describe('Null for an event of the project itself.'),
    title: z
      .string()
      .nullable()
      .describe(
        'What the event is about. For a version: the resource’s name, and for a deletion, its last name. For an event of the project: the key, application or webhook endpoint. Null for other events, and in production without `X-Service-Reason`.',
      ),
    patient: z.string().nullable().describe('The patient whose record it is in; null in the directory.'),
    patient_name: z
      .string()
      .nullable()
      .describe(
        'Null if the Patient is deleted or has no name, and in production without `X-Service-Reason`.',
      ),
    resource: z.string().nullable().describe('`Type/id`; null for an event that is not a version.'),
    version: z.int().nullable(),
    author: named
      .extend({
        type: z.string().nullable().describe('`patient`, `practitioner`, `device`, `import`, `ai`.'),
      })
      .nullable()
      .describe('The author that the client named; null if the event names no author.'),
    acting_as: named.nullable(),
    on_behalf_of: named.nullable(),
    approved_by: z
      .object({ issuer: z.string(), subject: z.string(), role: z.string(), proposal: z.string() })
      .nullable()
      .describe('The person who accepted the proposal that the event carries out.'),
    credential: credential.describe('The credential with which the write was made.'),
    source_system: z.string().nullable(),
    request_id: z.string(),
  })
  .meta({ id: 'LogEvent' });

const wholeEventSchema = eventSchema
  .extend({
    stream: z.string(),
    revision: z
      .int()
      .nullable()
      .describe('The event’s number in the stream, from 0; null if the log does not have the event.'),
    position: z.string().nullable().describe('The event’s position in the event store.'),
    chain: z.object({
      previous: z.string().nullable().describe('Hash of the previous event; 64 zeros for the first event.'),
      hash: z.string().nullable(),
      holds: z
        .boolean()
        .describe(
          'Whether the texts below and `previous` result in `hash`. If false, this event or the one before it was altered.',
        ),
      checkpoint: covering,
    }),
    data: z.string().nullable().describe('The exact JSON text in the log.'),
    metadata: z.string().nullable().describe('The exact JSON text in the log; its last member is the hash.'),
    changes: z
      .array(
        z.object({
          path: z.string(),
          before: z.string().nullable().describe('JSON; null if the element was added.'),
          after: z.string().nullable().describe('JSON; null if it was removed.'),
        }),
      )
      .describe(
        'Elements in which the version differs from the previous one. For a first version: all elements. For a deletion: the last version’s elements, as removed. For other events: the members of their data.',
      ),
  })
  .meta({ id: 'WholeLogEvent' });

const pageSchema = z.object({
  data: z.array(eventSchema),
  next_cursor: z.string().nullable().describe('The `cursor` for the next page; null on the last page.'),
  searched_to: instant
    .nullable()
    .describe(
      'Set if the page ended before it was full, because it had looked through 20,000 events: it covers the time from here on. `next_cursor` continues.',
    ),
});

/** The metadata members that are shown. */
interface Metadata {
  readonly request_id: string;
  readonly credential: CredentialIds & {
    readonly kind: z.input<typeof credential>['kind'];
    readonly grant_id?: string;
  };
  readonly author?: { readonly type?: string; readonly reference?: string; readonly display?: string };
  readonly acting_as?: string;
  readonly acting_as_display?: string;
  readonly on_behalf_of?: { readonly reference: string; readonly display?: string };
  readonly organization?: { readonly display?: string };
  readonly approved_by?: {
    readonly issuer: string;
    readonly subject: string;
    readonly role: string;
    readonly proposal_id: string;
  };
  readonly source_system?: string;
}

const parseMetadata = (text: string): Metadata => JSON.parse(text) as Metadata;

function eventView(
  row: EventRow,
  of: Environment | null,
  names: CredentialNames,
  { title, patient }: EventNames,
): z.input<typeof eventSchema> {
  const metadata = parseMetadata(row.metadata);
  const { author, acting_as, acting_as_display, on_behalf_of: behalf, organization, approved_by } = metadata;
  const { kind, key_id, application, grant_id, issuer, subject } = metadata.credential;
  return {
    id: row.id,
    recorded_at: toInstant(row.at),
    type: row.type,
    environment: of,
    title: title ?? nameSubject(row, names),
    patient: row.record,
    patient_name: patient,
    resource: row.resource_type === null ? null : `${row.resource_type}/${row.resource_id}`,
    version: row.version,
    author:
      author === undefined
        ? null
        : { type: author.type ?? null, reference: author.reference ?? null, display: author.display ?? null },
    acting_as: acting_as === undefined ? null : { reference: acting_as, display: acting_as_display ?? null },
    on_behalf_of:
      behalf !== undefined
        ? { reference: behalf.reference, display: behalf.display ?? null }
        : organization === undefined
          ? null
          : { reference: null, display: organization.display ?? null },
    approved_by:
      approved_by === undefined
        ? null
        : {
            issuer: approved_by.issuer,
            subject: approved_by.subject,
            role: approved_by.role,
            proposal: approved_by.proposal_id,
          },
    credential: {
      kind,
      name: names.get(credentialKey(metadata.credential)) ?? null,
      key: key_id ?? null,
      application: application ?? null,
      grant: grant_id ?? null,
      issuer: issuer ?? null,
      subject: subject ?? null,
    },
    source_system: metadata.source_system ?? null,
    request_id: metadata.request_id,
  };
}

/** Returns the name of what an event about the project itself concerns. */
function nameSubject({ subject }: EventRow, names: CredentialNames): string | null {
  if (subject === undefined || typeof subject === 'string') return subject ?? null;
  const id = credentialKey(subject);
  return names.get(id) ?? id;
}

type Reading = Pick<ApiRequest<string, 'identity'>, 'services'>;

function nameAll({ services }: Reading, rows: readonly EventRow[]): Promise<CredentialNames> {
  return services.audit.nameCredentials(
    rows.flatMap(({ metadata, subject }) => [
      parseMetadata(metadata).credential,
      ...(typeof subject === 'object' ? [subject] : []),
    ]),
  );
}

/** Returns the event's position, chain and content. */
async function logView({ services }: Reading, stream: string, found: LoggedEvent | undefined) {
  const {
    revision = null,
    position = null,
    previous = null,
    hash = null,
    holds = false,
    data = null,
    metadata = null,
  } = found ?? {};
  const checkpoint = revision === null ? undefined : await services.audit.coveredBy(stream, revision);
  return {
    stream,
    revision,
    position,
    chain: { previous: previous === '' ? null : previous, hash, holds, checkpoint: checkpoint ?? null },
    data,
    metadata,
  };
}

const TYPES = /^[A-Z]\w{0,60}(?:,[A-Z]\w{0,60}){0,40}$/;

/** Routes of events. */
export const EVENT_ROUTES = [
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/events',
    operationId: 'searchEvents',
    summary: 'Search the log of a project, newest first',
    description:
      'Events in the project’s records and directory in one environment, or, with `of=project`, events of the project itself, its applications and webhook endpoints. An event must fulfil all conditions. Answers have names but no other content; `GET …/events/{event_id}` has the content. A page looks through at most 20,000 events; `searched_to` says how far. Requires the role auditor. The read is in the access log of every patient whose events the page shows.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    models: ['projects', 'resources', 'history', 'consents'],
    query: z
      .strictObject({
        ...LIST_QUERY,
        ...PERIOD_QUERY,
        ...LANGUAGE_QUERY,
        environment: environment.default('sandbox'),
        of: z
          .enum(['records', 'project'])
          .default('records')
          .describe('`project`: keys, applications, webhooks and purges.'),
        type: z
          .string()
          .regex(TYPES, 'must be an event type such as ResourceUpdated, or several separated by commas')
          .transform((text) => text.split(','))
          .optional(),
        patient: patientId.optional(),
        resource: typeOrResource.optional(),
        author: z
          .string()
          .min(1)
          .max(300)
          .optional()
          .describe(
            'A reference such as `Practitioner/…`, a part of a name or of a member’s e-mail address in any case, a type of author, or the subject of an ID token.',
          ),
        author_type: z.enum(AUTHOR_TYPES).optional().describe('The type that the client named.'),
        key: keyId.optional(),
        application: applicationId.optional(),
        request_id: z.string().max(64).optional(),
      })
      .superRefine(periodInOrder),
    answers: { 200: { description: 'A page of events', schema: pageSchema } },
    async run(request) {
      const { services, params, query } = request;
      const project = await projectFor(request, params.project_id, 'auditor');
      const {
        environment: of,
        language: _language,
        of: kind,
        type: types,
        request_id: requestId,
        author_type: authorType,
        from: _from,
        to: _to,
        ...asked
      } = query;
      const conditions = { ...asked, ...periodIn(query), types, requestId, authorType };
      const ofRecords = kind === 'records';
      if (!ofRecords && query.resource !== undefined)
        throw new Refusal('invalid', {
          code: 'value',
          diagnostics: 'query.resource searches events in records, which of=project leaves out',
          expression: 'query.resource',
        });
      if (ofRecords) requireOpenOnPages(request, of);
      const { rows, next, searchedTo } = await (ofRecords
        ? services.audit.events({ project: project.id, environment: of }, conditions)
        : services.audit.ownEvents(project.id, conditions));
      const [names, nameOf] = await Promise.all([
        nameAll(request, rows),
        ofRecords && mayShow(request, of) ? readNames(services, texts(query.language), rows) : () => UNNAMED,
      ]);
      if (ofRecords) {
        const counts = new Map<string, number>();
        for (const { record } of rows) if (record !== null) counts.set(record, (counts.get(record) ?? 0) + 1);
        await noteReads(
          request,
          { environment: of, action: 'history-system', resourceType: null },
          [...counts].map(([record, count]) => ({ record, count })),
        );
      }
      return {
        status: 200,
        body: {
          data: rows.map((row) => eventView(row, ofRecords ? of : null, names, nameOf(row))),
          next_cursor: next ?? null,
          searched_to: searchedTo === undefined ? null : toInstant(searchedTo),
        },
      };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/events/{event_id}',
    operationId: 'getEvent',
    summary: 'An event with its content, and its place in the hash chain',
    description:
      'Returns the event as it is in the log now. `chain.holds` is computed from the texts in the answer, which anyone can do: docs/audit.md, “Formats”. Requires the role auditor. The request is a read of the patient’s record.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    models: ['projects', 'resources', 'history', 'consents'],
    query: z.strictObject(LANGUAGE_QUERY),
    answers: { 200: { description: 'The event', schema: wholeEventSchema } },
    async run(request) {
      const { services, params } = request;
      const { audit } = services;
      const project = await projectFor(request, params.project_id, 'auditor');
      const id = params.event_id;
      const place = await audit.event(project.id, id);
      if (place === undefined) {
        const own = await audit.ownEvent(project.id, id);
        if (own === undefined) throw notFound('event', id.slice(0, 60));
        const names = await nameAll(request, [own.row]);
        return {
          status: 200,
          body: {
            ...eventView(own.row, null, names, UNNAMED),
            ...(await logView(request, own.event.stream, own.event)),
            changes: listMembers(own.event.data).map(changeView),
          },
        };
      }
      const { environment: of, record, resource_type: type, resource_id: resource, version } = place;
      requireOpen(request, of);
      const [found, changes, names, nameOf] = await Promise.all([
        audit.loggedEvent({ project: project.id, environment: of }, place),
        resource === null || version === null ? undefined : audit.listChanges(resource, version),
        nameAll(request, [place]),
        readNames(services, texts(request.query.language), [place]),
      ]);
      if (record !== null) {
        const action = resource === null ? 'history-system' : 'vread';
        const kind = { environment: of, action, resourceType: type, resourceId: resource };
        await noteReads(request, kind, [{ record, count: 1 }]);
      }
      const stream = record === null ? `directory-${project.id}-${of}` : `record-${record}`;
      return {
        status: 200,
        body: {
          ...eventView(place, of, names, nameOf(place)),
          ...(await logView(request, stream, found)),
          changes: (changes ?? listMembers(found?.data)).map(changeView),
        },
      };
    },
  }),
];

function changeView({ path, before, after }: Difference) {
  const print = (value: Json | undefined): string | null => (value === undefined ? null : printJson(value));
  return { path, before: print(before), after: print(after) };
}

/** Returns the members of an event's data as a list of elements. */
function listMembers(data: string | undefined): Difference[] {
  const { value } = parseJson(data ?? '{}');
  return isObject(value) ? differences(undefined, value) : [];
}
