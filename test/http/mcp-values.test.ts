/** What assistants are told of values: nothing of what a grant leaves out, and what the values don't support (docs/mcp.md). */
import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { signIn } from '#test/support/admin.ts';
import { type Allowed, type Application, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { callTool, connectMcp } from '#test/support/mcp.ts';
import { restOf } from '#test/support/rest.ts';

const LOINC = 'http://loinc.org';
const UCUM = 'http://unitsofmeasure.org';
const GLUCOSE = '2345-7';

describe('values that assistants are told of', () => {
  let service: InProcess;
  let granting: Granting;
  let application: Application;
  const clients: Client[] = [];

  const { made } = restOf(() => service);

  before(async () => {
    service = await startInProcess();
    granting = await Granting.open(service);
    const owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    application = await granting.register(owner, id, ['patient/*.cruds']);
  });
  after(async () => {
    for (const client of clients) await client.close();
    await granting?.close();
    await service?.stop();
  });

  const newPatient = async (): Promise<string> => String((await made('/patients', { family: 'Sand' })).id);
  const allow = (patient: string): Promise<Allowed> =>
    granting.allow(application, patient, { scopes: ['patient/*.cruds'] });
  /** Connects an assistant under a grant. */
  const connect = async (allowed: Allowed, scopes?: readonly string[]): Promise<Client> => {
    const token = await granting.tokenOf(allowed, scopes, [`${service.url}/mcp`]);
    const client = await connectMcp(service.url, token);
    clients.push(client);
    return client;
  };
  const quantity = (value: number, unit: string, more: JsonObject = {}): JsonObject => ({
    ...{ value, unit, system: UCUM, code: unit },
    ...more,
  });
  /** Writes an Observation of glucose, unless `more` says something else. */
  const measure = async (patient: string, effectiveDateTime: string, more: JsonObject = {}) => {
    const sent = await service.post('/Observation', {
      ...{ resourceType: 'Observation', status: 'final', effectiveDateTime },
      code: { coding: [{ system: LOINC, code: GLUCOSE, display: 'Glucose' }] },
      subject: { reference: `Patient/${patient}` },
      ...more,
    });
    expect(sent.status, sent.text).to.equal(201);
    return sent.json;
  };
  /** Writes twelve values of glucose that rise, of a category. */
  const rise = async (patient: string, category: string): Promise<void> => {
    for (let month = 1; month <= 12; month += 1)
      await measure(patient, `2025-${String(month).padStart(2, '0')}-01T08:00:00Z`, {
        category: [
          {
            coding: [
              { system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: category },
            ],
          },
        ],
        valueQuantity: quantity(100 + 3 * month, 'mg/dL'),
      });
  };
  const contentOf = ({ structured }: { readonly structured: JsonObject }): JsonObject =>
    Object(structured.record_content);

  it('are of a moment that says nothing of changes outside the grant', async () => {
    const patient = await newPatient();
    await rise(patient, 'laboratory');
    const client = await connect(await allow(patient), ['patient/Observation.rs?category=laboratory']);
    const read = async (): Promise<Json | undefined> => {
      const [first] = objects(contentOf(await callTool(client, 'find_patterns')).findings);
      expect(first).to.not.equal(undefined);
      return first?.computed_at;
    };
    const before = await read();
    await made(`/patients/${patient}/conditions`, { code: 'B20', onset: '2020-01-01' });
    await measure(patient, '2026-01-01', { valueQuantity: quantity(5, 'mg/dL') });
    expect(await read()).to.equal(before);
    await rise(patient, 'laboratory');
    expect(String(await read()) > String(before)).to.equal(true);
  });
});

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
