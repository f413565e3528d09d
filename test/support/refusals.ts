/** Sends requests that must be refused to a service in this process, and checks the documented status and body. */
import { expect } from 'chai';
import { type InProcess, type KeyedCall, startInProcess } from './in-process.ts';

/** The expected answer to a bad request. */
export interface Expected {
  readonly status: number;
  /** Code of the first issue. */
  readonly code: string;
  /** Expression of the first issue. */
  readonly expression?: string;
  /** A pattern that the diagnostics of some issue must match. */
  readonly says?: RegExp;
  readonly headers?: Readonly<Record<string, RegExp>>;
}

/** The body of the answer. */
export interface Outcome {
  readonly resourceType: string;
  readonly issue: readonly {
    readonly severity: string;
    readonly code: string;
    readonly diagnostics: string;
    readonly expression?: readonly string[];
  }[];
}

/** The functions that tables of bad input use. */
export interface Refusals {
  /** Returns the service; call it only while the tests run. */
  readonly service: () => InProcess;
  /** Returns the id of the first patient. */
  readonly mine: () => string;
  readonly other: () => string;
  /**
   * Declares a test: sends the request, compares the answer with the documentation, and checks that nothing was
   * written.
   */
  readonly refuses: (title: string, request: () => [string, KeyedCall?], expected: Expected) => void;
}

/** Returns a resource of the first patient, or of another. */
export const observationOf = (patient: string, more: object = {}) => ({
  resourceType: 'Observation',
  status: 'final',
  code: { text: 'x' },
  subject: { reference: `Patient/${patient}` },
  ...more,
});

/** Returns a POST of a text, or of a value as JSON. */
export const post = (
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): [string, KeyedCall] => [
  path,
  { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) },
];

/** Starts the service before the tests of a `describe`, and stops it after them. */
export function refusals(): Refusals {
  let service: InProcess;
  let mine: string;
  let other: string;
  before(async () => {
    service = await startInProcess({ bodyBytes: 20_000, bundleBytes: 60_000, bundleEntries: 20 });
    mine = String((await service.post('/Patient', { resourceType: 'Patient' })).json.id);
    other = String((await service.post('/Patient', { resourceType: 'Patient' })).json.id);
  });
  after(() => service.stop());

  const refuses = (title: string, request: () => [string, KeyedCall?], expected: Expected) => {
    it(`${title}: ${expected.status} ${expected.code}`, async () => {
      const [path, call] = request();
      const versions = async () => (await service.fhir('/_history?_count=0')).json.total;
      const before = await versions();
      const answer = await service.fhir(path, call);
      expect(answer.status, answer.text).to.equal(expected.status);
      expect(answer.headers.get('content-type')).to.equal('application/fhir+json; charset=utf-8');
      expect(answer.headers.get('service-request-id')).to.match(/^req_[\w-]{22}$/);
      const outcome = JSON.parse(answer.text) as Outcome;
      expect(outcome.resourceType).to.equal('OperationOutcome');
      const [first] = outcome.issue;
      expect([first?.severity, first?.code], answer.text).to.deep.equal(['error', expected.code]);
      if (expected.expression !== undefined) expect(first?.expression).to.deep.equal([expected.expression]);
      if (expected.says !== undefined) {
        expect(outcome.issue.map(({ diagnostics }) => diagnostics).join('\n')).to.match(expected.says);
      }
      for (const [name, value] of Object.entries(expected.headers ?? {})) {
        expect(answer.headers.get(name)).to.match(value);
      }
      expect(await versions()).to.equal(before);
    });
  };
  return { service: () => service, mine: () => mine, other: () => other, refuses };
}
