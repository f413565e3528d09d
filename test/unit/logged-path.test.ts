/** The part of a path that the request log stores. */
import { expect } from 'chai';
import { loggedPath } from '#src/http/server/envelope.ts';

const ID = '01a200a6-ce33-73da-823b-5ab666a6e426';
const PROJECT = 'proj_umsqlnJELQQyNxGHGHrAZA';

describe('logged path', () => {
  for (const [path, pattern, kept] of [
    ['/fhir/R4', '/fhir/R4/', '/fhir/R4'],
    ['/fhir/R4/Patient/', '/fhir/R4/:type', '/fhir/R4/Patient/'],
    [
      `/fhir/R4/Patient/${ID}/_history/12`,
      '/fhir/R4/:type/:id/_history/:vid',
      `/fhir/R4/Patient/${ID}/_history/12`,
    ],
    [
      '/fhir/R4/Patient/4711/_history/Doe',
      '/fhir/R4/:type/:id/_history/:vid',
      '/fhir/R4/Patient/…/_history/…',
    ],
    ['/fhir/R4/Doe/$validate', '/fhir/R4/:type/$validate', '/fhir/R4/…/$validate'],
    [
      `/fhir/R4/Patient/${ID}/$everything`,
      '/fhir/R4/:type/:id/$everything',
      `/fhir/R4/Patient/${ID}/$everything`,
    ],
    [
      `/admin/projects/${PROJECT}/logs`,
      '/admin/projects/{project_id}/logs',
      `/admin/projects/${PROJECT}/logs`,
    ],
    ['/admin/projects/Mira%20Sand/logs', '/admin/projects/{project_id}/logs', '/admin/projects/…/logs'],
    [`/v1/keys/sk_test_${'x'.repeat(43)}`, '/v1/keys/{id}', '/v1/keys/…'],
    [
      `/v1/patients/${ID}/provenance/Observation/${ID}`,
      '/v1/patients/{patient_id}/provenance/{resource_type}/{resource_id}',
      `/v1/patients/${ID}/provenance/Observation/${ID}`,
    ],
    [`/fhir/R4/Doe/${ID}`, 'unmatched', `/fhir/R4/…/${ID}`],
    [`/v1/patients/${ID}/sk_test_1`, 'unmatched', `/v1/patients/${ID}/…`],
  ] as const) {
    it(`of ${path}`, () => expect(loggedPath(path, pattern)).to.equal(kept));
  }
});
