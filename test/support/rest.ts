/** Sends requests to REST v1, and reads the same records through the FHIR interface. */
import { expect } from 'chai';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import type { InProcess } from './in-process.ts';
import type { Answer } from './service.ts';

/** Functions that send requests to a service, with the service's first key unless another key is given. */
export interface Rest {
  /**
   * Sends a request.
   * @param path below `/v1`
   */
  v1(
    method: string,
    path: string,
    body?: object,
    headers?: Readonly<Record<string, string>>,
    key?: string,
  ): Promise<Answer>;
  get(path: string): Promise<Answer>;
  /** Creates a resource by POST and returns it. */
  made(path: string, body: object, headers?: Readonly<Record<string, string>>): Promise<JsonObject>;
  /** Returns a resource from the FHIR interface as plain JSON. */
  fhir(type: string, id: unknown): Promise<JsonObject>;
}

/**
 * Returns the functions for a service.
 * @param service called for each request, because the service may start later
 */
export function restOf(service: () => InProcess): Rest {
  const v1: Rest['v1'] = (method, path, body, headers = {}, key = service().key) =>
    service().fhir(`${service().url}/v1${path}`, {
      method,
      key,
      headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    v1,
    get: (path) => v1('GET', path),
    async made(path, body, headers) {
      const answer = await v1('POST', path, body, headers);
      expect(answer.status, answer.text).to.equal(201);
      return answer.json;
    },
    async fhir(type, id) {
      const answer = await service().fhir(`/${type}/${String(id)}`);
      expect(answer.status, answer.text).to.equal(200);
      return JSON.parse(answer.text) as JsonObject;
    },
  };
}

/** Returns a list's `data`. */
export function dataOf(answer: Answer): JsonObject[] {
  expect(answer.status, answer.text).to.equal(200);
  return Array.isArray(answer.json.data) ? answer.json.data.filter(isObject) : [];
}

/** Returns the record in a write's response in the form in which reads return it: without `warnings`, which must be empty. */
export function asRead({ warnings, ...record }: JsonObject): JsonObject {
  expect(warnings).to.deep.equal([]);
  return record;
}

/** Returns the text of a write's response in the form in which reads return it. */
export function textAsRead({ text }: Answer): string {
  expect(text).to.match(/,"warnings":\[\]\}$/);
  return text.replace(/,"warnings":\[\]\}$/, '}');
}
