/** Sends requests that must be refused to a service in this process, and checks their documented status and body. */
import { expect } from 'chai';
import { type InProcess, type KeyedCall, startInProcess } from './in-process.ts';

/** The expected response to a bad request. */
export interface Expected {
  readonly status: number;
  /** The first issue's code. */
  readonly code: string;
  /** The first issue's expression. */
  readonly expression?: string;
  /** A pattern that the diagnostics of at least one issue must match. */
  readonly says?: RegExp;
  readonly headers?: Readonly<Record<string, RegExp>>;
}

/** The response's body. */
export interface Outcome {
  readonly resourceType: string;
  readonly issue: readonly {
    readonly severity: string;
    readonly code: string;
    readonly diagnostics: string;
    readonly expression?: readonly string[];
  }[];
}

/** The functions used by tables of bad input. */
export interface Refusals {
  /** Returns the service; call it only while tests are running. */
  readonly service: () => InProcess;
  /** Returns the first patient's id. */
  readonly mine: () => string;
  readonly other: () => string;
  /**
   * Declares a test that sends the request, compares the response with the documentation, and checks that nothing was written.
   */
  readonly refuses: (title: string, request: () => [string, KeyedCall?], expected: Expected) => void;
}

/** Returns a resource for the given patient. */
export const observationOf = (patient: string, more: object = {}) => ({
  resourceType: 'Observation',
  status: 'final',
  code: { text: 'x' },
  subject: { reference: `Patient/${patient}` },
  ...more,
});

/** Returns a POST with a text, or with a value as JSON. */
export const post = (
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): [string, KeyedCall] => [
  path,
  { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) },
];

/** Starts the service before the tests in a `describe`, and stops it afterwards. */
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
