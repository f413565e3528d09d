/** Stores a varied record through the service, for a person who can then open the record's pages. */
import type { InProcess } from '#test/support/in-process.ts';
import { me } from '#test/support/me.ts';
import { type Json, read, texts, type Version } from './raw.ts';
import type { VariedRecord } from './varied-records.ts';

/** The types that a reading uses. */
const READ = [
  ...[
    'AllergyIntolerance',
    'MedicationStatement',
    'MedicationRequest',
    'Condition',
    'Immunization',
    'Observation',
  ],
];
/** Elements that refer to resources that aren't stored here, and that a reading doesn't need. */
const ELSEWHERE = [
  ...['encounter', 'context', 'requester', 'performer', 'recorder', 'asserter', 'reasonReference', 'basedOn'],
  ...[
    'partOf',
    'hasMember',
    'derivedFrom',
    'informationSource',
    'location',
    'specimen',
    'device',
    'evidence',
  ],
  ...['priorPrescription', 'meta', 'id', 'manufacturer', 'supportingInformation'],
];

/** A record as stored. */
export interface StoredRecord extends VariedRecord {
  /** The refused resources, with the reasons. None of them is in the record. */
  readonly refused: readonly string[];
}

/** Stores a record and links it to a person. */
export async function storeRecord(
  service: InProcess,
  { name, patient, versions, directory }: VariedRecord,
  email: string,
): Promise<StoredRecord> {
  const refused: string[] = [];
  const create = async (resource: Json): Promise<string> => {
    const { text } = await service.post(`/${String(resource.resourceType)}`, resource);
    return String(JSON.parse(text).id);
  };
  const { managingOrganization: _, generalPractitioner: __, ...person } = without(patient.resource);
  const id = await create(person);
  const needed = new Set(
    versions.flatMap(({ resource }) => texts(resource, 'medicationReference.reference')),
  );
  const medications = new Map<string, string>();
  for (const [key, resource] of directory)
    if (needed.has(key)) medications.set(key, `Medication/${await create(without(resource))}`);
  const stored: Version[] = [{ ...patient, id, version: 1, resource: person }];
  for (const byAi of [false, true]) {
    const own = versions
      .filter((each) => each.byAi === byAi && READ.includes(each.type))
      .map((each) => ({ ...each, resource: placed(each.resource, id, medications) }));
    const written = await send(service, byAi, own, refused, (each) => ['POST', each.type]);
    const again = await send(
      service,
      byAi,
      written
        .filter((_each, n) => n % 3 === 0)
        .map((each) => ({ ...each, resource: { ...each.resource, id: each.id, language: 'en' } })),
      refused,
      (each) => ['PUT', `${each.type}/${each.id}`],
    );
    const newer = new Map(again.map((each) => [each.id, each]));
    stored.push(...written.map((each) => newer.get(each.id) ?? each));
  }
  await link(service, id, texts(person, 'birthDate')[0] ?? '', email);
  return {
    name,
    patient: stored[0] ?? patient,
    versions: stored,
    directory: new Map([...medications].map(([key, to]) => [to, directory.get(key) ?? {}])),
    refused,
  };
}

const without = (resource: Json): Json =>
  Object.fromEntries(Object.entries(resource).filter(([name]) => !ELSEWHERE.includes(name)));

function placed(resource: Json, patient: string, medications: ReadonlyMap<string, string>): Json {
  const owner = { reference: `Patient/${patient}` };
  const [reference] = texts(resource, 'medicationReference.reference');
  const medication = reference === undefined ? undefined : medications.get(reference);
  return {
    ...without(resource),
    ...(resource.subject === undefined ? { patient: owner } : { subject: owner }),
    ...(medication === undefined
      ? {}
      : {
          medicationReference: { ...(read(resource, 'medicationReference')[0] ?? {}), reference: medication },
        }),
  };
}

/**
 * Sends a batch.
 * @param refused receives what wasn't written, and why
 * @returns what was written, with its current ids and versions
 */
async function send(
  service: InProcess,
  byAi: boolean,
  versions: readonly Version[],
  refused: string[],
  request: (version: Version) => readonly [method: string, url: string],
): Promise<Version[]> {
  if (versions.length === 0) return [];
  const entry = versions.map((each) => {
    const [method, url] = request(each);
    return { resource: each.resource, request: { method, url } };
  });
  const { text } = await service.post(
    '',
    { resourceType: 'Bundle', type: 'batch', entry },
    byAi ? { 'X-Service-Author-Type': 'ai' } : {},
  );
  const answers = read(JSON.parse(text), 'entry.response');
  return versions.flatMap((each, n) => {
    const [location = ''] = texts(answers[n], 'location');
    const [, id, version] = /([0-9a-f-]{36})\/_history\/(\d+)$/.exec(location) ?? [];
    if (id !== undefined) return [{ ...each, id, version: Number(version) }];
    const [why = JSON.stringify(answers[n])] = texts(answers[n], 'outcome.issue.diagnostics');
    refused.push(`${each.type}: ${why}`);
    return [];
  });
}

async function link(service: InProcess, record: string, birthDate: string, email: string): Promise<void> {
  const answer = await fetch(`${service.url}/v1/patients/${record}/invitations`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ relationship: 'self' }),
  });
  const { code }: { readonly code?: string } = JSON.parse(await answer.text());
  const { status } = await me(service, email, '/invitations/redeem', 'POST', { code, birth_date: birthDate });
  if (status !== 200) throw new Error(`the invitation can't be redeemed: ${status}`);
}
