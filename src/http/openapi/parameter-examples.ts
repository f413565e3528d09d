/** Examples of required parameters, by name, in the same form as real values. */
import { isPart } from './nullable.ts';
import type { Part } from './schemas.ts';

const RESOURCE = '01890000-0000-7000-8000-000000000000';
const EXAMPLES: Readonly<Record<string, unknown>> = {
  rid: RESOURCE,
  vid: '1',
  patient_id: RESOURCE,
  item_id: RESOURCE,
  doc_id: RESOURCE,
  resource_id: RESOURCE,
  concept_id: 'back-pain',
  finding_id: 'find_Yk3q0Zt7bV1sXc9wLm2NpRd5',
  code: '4548-4',
  secret: 'x8Qm2v0kq3cJ1mN5rT7wZ9bD4fH6jL8pS0uV2yA3eGk',
  ticket: 'x8Qm2v0kq3cJ1mN5rT7wZ9bD4fH6jL8pS0uV2yA3eGk',
  sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  name: 'annal.css',
  operation_id: 'fhirCreate',
  guide: 'interface',
  folder: 'spec',
  patient: RESOURCE,
  q: 'glucose',
  email: 'nora@example.org',
  issuer: 'https://login.example.org',
  subject: '248289761001',
  client_id: 'client_test_Yk3q0Zt7bV1sXc9wLm2Npw',
  redirect_uri: 'http://localhost:5173/callback',
  state: 'af0ifjsldkj',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
};
/** Id prefixes (docs/spec/decisions.md, section 1). */
const PREFIXES: Readonly<Record<string, string>> = {
  org_id: 'org',
  project_id: 'proj',
  key_id: 'key',
  application_id: 'app',
  application: 'app',
  grant_id: 'grant',
  request_id: 'areq',
  service_request_id: 'req',
  proposal_id: 'prop',
  invitation_id: 'inv',
  link_id: 'shl',
  endpoint_id: 'whe',
  delivery_id: 'whd',
};

/**
 * Adds an example to a required parameter, unless its schema lists the allowed values. Optional parameters get no example,
 * because `/docs` would send it.
 * @param path the operation's path
 */
export function addParameterExample(parameter: Part, path: string): Part {
  const { name, schema } = parameter;
  if (parameter.required !== true || 'example' in parameter || typeof name !== 'string') return parameter;
  if (!isPart(schema) || 'enum' in schema || 'default' in schema || 'const' in schema) return parameter;
  const example = exampleFor(name, schema, path);
  return example === undefined ? parameter : { ...parameter, example };
}

function exampleFor(name: string, schema: Part, path: string): unknown {
  if (name === 'system') return 'loinc';
  if (name === 'resource_type') return 'Observation';
  if (name === 'resource') return 'acct:nora@example.org';
  const prefix = path.includes('/links/') && name === 'link_id' ? 'link' : PREFIXES[name];
  if (prefix !== undefined) return `${prefix}_Yk3q0Zt7bV1sXc9wLm2Npw`;
  const example = EXAMPLES[name];
  return schema.type === 'array' && example !== undefined ? [example] : example;
}
