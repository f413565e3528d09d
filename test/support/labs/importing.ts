/** Imports laboratory results into a running service; each test uses its own record. */
import { expect } from 'chai';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import type { InProcess } from '../in-process.ts';
import { restOf } from '../rest.ts';
import type { Answer } from '../service.ts';
import { OBR, oru } from './parts.ts';

/** An OBX of glucose. */
export const GLUCOSE = 'OBX|1|NM|2345-7^Glucose^LN||5.60|mmol/L|3.9-5.5|H|||F';
const SODIUM = 'OBX|2|NM|NA^Natrium^L||141|mmol/L|135-145|N|||F';
/** A result with a LOINC code, a result with a local code, and their specimen. */
export const MESSAGE = oru(OBR, GLUCOSE, SODIUM, 'SPM|1|^S1||SER^Serum^HL70487');

/** Helpers that import messages and read the results. */
export interface Importing {
  /** Creates the patient in `PID`; all later imports are for this patient. */
  begin(): Promise<string>;
  send(
    body: string | Buffer,
    type?: string,
    headers?: Readonly<Record<string, string>>,
    query?: string,
  ): Promise<Answer>;
  json(body: object, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Imports a message and returns the response. */
  imported(message: string): Promise<JsonObject>;
  /** Returns the number of resources of a type in the record. */
  count(type: string): Promise<unknown>;
}

/**
 * Returns the helpers for imports.
 * @param service called for each request, because the service may start later
 */
export function importing(service: () => InProcess): Importing {
  let patient = '';
  const send: Importing['send'] = (body, type = 'x-application/hl7-v2+er7', headers = {}, query = '') =>
    service().fhir(`${service().url}/v1/patients/${patient}/labs/import${query}`, {
      method: 'POST',
      body: body as string,
      headers: { 'Content-Type': type, ...headers },
    });
  return {
    async begin() {
      const made = await restOf(service).made('/patients', {
        family: 'Berg',
        given: 'Anna',
        birth_date: '1970-01-02',
        gender: 'female',
        identifiers: [{ system: 'urn:oid:1.2.3.4', value: '4711' }],
      });
      patient = String(made.id);
      return patient;
    },
    send,
    json: (body, headers) => send(JSON.stringify(body), 'application/json', headers),
    async imported(message) {
      const answer = await send(message);
      expect(answer.status, answer.text).to.equal(200);
      return answer.json;
    },
    async count(type) {
      return (await service().fhir(`/${type}?_summary=count&patient=${patient}`)).json.total;
    },
  };
}

/** Returns the observations in an import's response. */
export function observations({ observations: all }: JsonObject): JsonObject[] {
  return Array.isArray(all) ? all.filter(isObject) : [];
}

/** Returns the rest of an import's response. */
export function told({ created, skipped, unmapped, warnings }: JsonObject): JsonObject {
  return {
    created: created ?? null,
    skipped: skipped ?? null,
    unmapped: unmapped ?? null,
    warnings: warnings ?? null,
  };
}
