/** A record with something of every kind, for testing assistants, next to another patient's record. */
import { signIn } from './admin.ts';
import { type Allowed, Granting } from './granted.ts';
import { type InProcess, startInProcess } from './in-process.ts';
import { restOf } from './rest.ts';

const LOINC = 'http://loinc.org';
const CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';

/** Returns the text that people and programs write to a given place of a record. */
export type Text = (place: string) => string;

/** A service with such a record, and a grant on it. */
export class McpRecord {
  private constructor(
    readonly service: InProcess,
    readonly granting: Granting,
    readonly patient: string,
    /** An id from another patient's record. */
    readonly other: string,
    /** A grant that covers everything. */
    readonly allowed: Allowed,
  ) {}

  /**
   * Starts the service with the record.
   * @param text returns the record's free texts
   */
  static async start(text: Text = (place) => `A ${place}`): Promise<McpRecord> {
    const service = await startInProcess();
    const granting = await Granting.open(service);
    const owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    const application = await granting.register(owner, id, ['patient/*.cruds']);
    const patient = await fill(service, text);
    const other = await fill(service, (place) => `Another ${place}`);
    const allowed = await granting.allow(application, patient, { scopes: ['patient/*.cruds'] });
    return new McpRecord(service, granting, patient, other, allowed);
  }

  /** Issues tokens for the same grant and scopes, for `/mcp` and for the other interfaces. */
  async tokens(scopes: readonly string[]): Promise<{ readonly mcp: string; readonly rest: string }> {
    return {
      mcp: await this.granting.tokenOf(this.allowed, scopes, [`${this.service.url}/mcp`]),
      rest: await this.granting.tokenOf(this.allowed, scopes),
    };
  }

  async stop(): Promise<void> {
    await this.granting.close();
    await this.service.stop();
  }
}

/**
 * Writes a record.
 * @returns its patient's id
 */
async function fill(service: InProcess, text: Text): Promise<string> {
  const { made } = restOf(() => service);
  const ai = { 'X-Service-Author-Type': 'ai', 'X-Service-Source-System': 'model' };
  const patient = String(
    (
      await made('/patients', {
        family: text('family name'),
        given: text('given name'),
        birth_date: '1957-03-14',
      })
    ).id,
  );
  const subject = { reference: `Patient/${patient}`, display: text('display of the subject') };
  const write = (type: string, body: object, headers = {}) =>
    service.post(`/${type}`, { resourceType: type, ...body }, headers);
  const note = [{ text: text('note') }];
  for (const [category, month, headers] of [
    ['laboratory', '01', {}],
    ['laboratory', '02', {}],
    ['vital-signs', '03', {}],
    ['laboratory', '04', ai],
  ] as const)
    await write(
      'Observation',
      {
        ...{ status: 'final', subject, note, effectiveDateTime: `2026-${month}-01T08:00:00Z` },
        category: [{ coding: [{ system: CATEGORY, code: category }] }],
        code: {
          coding: [{ system: LOINC, code: '4548-4', display: text('display of a code') }],
          text: text('name of a result'),
        },
        valueQuantity: {
          value: 6 + Number(month) / 10,
          unit: '%',
          system: 'http://unitsofmeasure.org',
          code: '%',
        },
        interpretation: [{ text: text('interpretation') }],
      },
      headers,
    );
  await write('Observation', {
    ...{ status: 'final', subject, effectiveDateTime: '2026-05-01' },
    code: { text: text('question') },
    valueString: text('answer'),
  });
  await write('Condition', { subject, note, code: { text: text('problem') }, onsetString: text('onset') });
  await write('Condition', { subject, code: { text: text('problem of an AI') } }, ai);
  await write('AllergyIntolerance', {
    clinicalStatus: {
      coding: [
        { system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' },
      ],
    },
    patient: subject,
    code: { text: text('allergy') },
    reaction: [{ manifestation: [{ text: text('reaction') }] }],
  });
  await write('MedicationStatement', {
    ...{ status: 'active', subject, note, effectivePeriod: { start: '2026-01-01' } },
    medicationCodeableConcept: { text: text('medicine') },
    dosage: [{ text: text('dose') }],
  });
  await write('Procedure', {
    status: 'completed',
    subject,
    code: { text: text('procedure') },
    performedDateTime: '2025-01-01',
  });
  await write('Immunization', {
    ...{ status: 'completed', patient: subject, occurrenceDateTime: '2025-02-01' },
    vaccineCode: { text: text('vaccine') },
  });
  await write('Encounter', {
    ...{ status: 'finished', subject, class: { code: 'AMB', display: text('class of a visit') } },
    ...{
      type: [{ text: text('visit') }],
      reasonCode: [{ text: text('reason') }],
      period: { start: '2026-03-31' },
    },
  });
  await write('CarePlan', {
    status: 'active',
    intent: 'plan',
    subject,
    title: text('plan'),
    description: text('plan in words'),
  });
  const { id } = await made(`/patients/${patient}/documents`, {
    ...{ title: text('title of a document'), description: text('description'), content_type: 'text/plain' },
  });
  await fetch(`${service.url}/v1/documents/${id}/content`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'text/plain' },
    body: text('content of a document'),
  });
  return patient;
}
