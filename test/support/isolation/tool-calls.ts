/** Lists tool calls and reads of versions that use a record's ids. */
import type { Answered } from './answered.ts';

/** A message to `/mcp`. */
export interface ToolCall {
  readonly method: string;
  readonly params: object;
}

/** The ids that calls use. */
export type NamedIds = Pick<Answered, 'patient' | 'observation' | 'practitioner' | 'document'>;

const CODE = '4548-4';
const PERIODS = { a: { from: '2025-01-01', to: '2025-06-30' }, b: { from: '2025-07-01', to: '2026-06-30' } };

/**
 * Returns calls with the given ids; their number and order are always the same.
 * @param own ids that the caller can see
 * @param base the service's URL
 */
export function callsNaming(
  { patient, observation, practitioner, document }: NamedIds,
  own: NamedIds,
  base: string,
): ToolCall[] {
  const call = (name: string, args: object): ToolCall => ({
    method: 'tools/call',
    params: { name, arguments: args },
  });
  const read = (version: string): ToolCall => ({
    method: 'resources/read',
    params: { uri: `${base}/fhir/R4/${version}` },
  });
  const subject = { reference: `Patient/${patient}` };
  const proposed = { resourceType: 'Observation', status: 'final', code: { text: 'Weight' } };
  const propose = (operation: string, resource: object, more: object = {}): ToolCall =>
    call('propose_change', { operation, resource, rationale: 'You said so.', ...more });
  return [
    call('get_context', { patient }),
    call('get_context', { patient, question: 'How are the kidneys?', as_of: '2030-01-01T00:00:00Z' }),
    call('search_record', { patient, type: 'Observation' }),
    call('search_record', { patient, type: 'Patient' }),
    call('search_record', { patient, type: 'Practitioner' }),
    call('search_record', {
      patient: own.patient,
      type: 'Observation',
      parameters: { 'has-member': observation },
    }),
    call('search_record', { patient: own.patient, type: 'Patient', parameters: { link: patient } }),
    call('search_record', {
      patient: own.patient,
      type: 'Observation',
      parameters: { performer: practitioner },
    }),
    call('search_record', { type: 'Practitioner', parameters: { identifier: practitioner } }),
    call('read_resource', { type: 'Patient', id: patient }),
    call('read_resource', { type: 'Observation', id: observation }),
    call('read_resource', { type: 'Observation', id: observation, version: 1 }),
    call('read_resource', { type: 'Observation', id: observation, patient }),
    call('read_resource', { type: 'Observation', id: own.observation, patient }),
    call('read_resource', { type: 'Practitioner', id: practitioner }),
    call('read_resource', { type: 'DocumentReference', id: document }),
    call('timeline', { patient }),
    call('series', { patient, code: CODE }),
    call('find_patterns', { patient }),
    call('compare_periods', { patient, code: CODE, ...PERIODS }),
    call('lookup_code', { text: 'blood sugar', patient }),
    call('list_documents', { patient }),
    call('read_document', { id: document }),
    call('read_document', { id: document, cursor: '10' }),
    call('find_patient', { identifier: patient }),
    call('find_patient', { q: patient }),
    call('my_proposals', { patient }),
    propose('create', { ...proposed, subject }),
    propose('create', { ...proposed, subject }, { patient }),
    propose('create', {
      ...{ ...proposed, subject: { reference: `Patient/${own.patient}` } },
      hasMember: [{ reference: `Observation/${observation}` }],
    }),
    propose('update', { ...proposed, id: observation, subject }, { current_version: 1 }),
    read(`Patient/${patient}`),
    read(`Observation/${observation}/_history/1`),
    read(`DocumentReference/${document}`),
    read(`Practitioner/${practitioner}/_history/1`),
  ];
}
