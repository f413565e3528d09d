/**
 * Code that the client's types must reject. `test/client/client.test.ts` compiles this file against the packed client, and
 * fails if a line below a marker compiles without an error.
 */
import { Annal, type Api, type Fhir } from '@annal/client';

const annal = new Annal({ baseUrl: 'http://localhost:3000', credential: 'sk_test_1' });
const patient_id = 'p';

export const patient: Promise<Api.WrittenPatient> = annal.post('/v1/patients', { body: { family: 'Lind' } });
// @ts-expect-error: an unknown member
annal.post('/v1/patients', { body: { firstName: 'Nora' } });
// @ts-expect-error: none of the values
annal.post('/v1/patients', { body: { gender: 'f' } });
// @ts-expect-error: a body is needed
annal.post('/v1/patients', {});
// @ts-expect-error: an unknown path
annal.get('/v1/patient');
// @ts-expect-error: a part of the path is missing
annal.get('/v1/patients/{patient_id}/observations', { limit: 2 });
// @ts-expect-error: an unknown query parameter
annal.get('/v1/patients/{patient_id}/observations', { patient_id, page: 2 });
// @ts-expect-error: another type
annal.get('/v1/patients', { limit: 'ten' });
// @ts-expect-error: not a list
annal.list('/v1/patients/{patient_id}', { patient_id });
// @ts-expect-error: an unknown option
annal.get('/v1/patients', {}, { retry: 3 });
// @ts-expect-error: the answer has no such member
annal.get('/v1/patients/{patient_id}', { patient_id }).then(({ firstName }) => firstName);

export const read: Promise<Fhir.Observation> = annal.fhir.read('Observation', 'o');
// @ts-expect-error: not a type that the service stores
annal.fhir.read('Appointment', 'a');
// @ts-expect-error: an unknown element
annal.fhir.create({ resourceType: 'Patient', family: 'Lind' });
// @ts-expect-error: none of the codes
annal.fhir.create({ resourceType: 'Patient', gender: 'f' });
// @ts-expect-error: status and code are required
annal.fhir.create({ resourceType: 'Observation' });
// @ts-expect-error: an unknown search parameter
annal.fhir.search('Patient', { firstName: 'Nora' });
// @ts-expect-error: without an id it can't be updated
annal.fhir.update({ resourceType: 'Patient' });
// @ts-expect-error: a patch needs an operation that exists
annal.fhir.patch('Patient', 'p', [{ op: 'set', path: '/gender', value: 'male' }]);

export const searched = annal.fhir.search('Observation', {
  code: 'http://loinc.org|4548-4',
  'subject:Patient.name': 'lind',
  'value-quantity': ['gt5', 'lt8'],
  _sort: '-date',
});
export const withExtension: Fhir.Patient = {
  resourceType: 'Patient',
  birthDate: '1961-05',
  _birthDate: { extension: [{ url: 'http://example.org/precision', valueCode: 'month' }] },
};
