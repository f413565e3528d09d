/** The flow of docs/first-app.md, with the service's URL and the key of a sandbox. */
import { Annal } from '@annal/client';

export async function firstApp(baseUrl: string, key: string) {
  const annal = new Annal({ baseUrl, credential: key });
  const nora = { given: 'Nora', family: 'Lind', birth_date: '1961-05-14', gender: 'female' } as const;
  const { id: patient_id } = await annal.post('/v1/patients', { body: nora });
  const hba1c = { code: '4548-4', display: 'HbA1c', category: 'laboratory', value: 7.1, unit: '%' } as const;
  const measured = await annal.post('/v1/patients/{patient_id}/observations', {
    patient_id,
    body: { ...hba1c, effective_at: '2026-03-31T09:30:00+02:00', reference_range: { low: 4, high: 5.6 } },
  });
  const found = { code: 'E11.9', display: 'Type 2 diabetes mellitus', onset: '2019-11-04' };
  const byDoctor = { authorType: 'practitioner' } as const;
  await annal.post('/v1/patients/{patient_id}/conditions', { patient_id, body: found }, byDoctor);
  const letter = {
    title: 'Discharge letter',
    kind: 'discharge_summary',
    content_type: 'text/plain',
  } as const;
  const text = 'Ms Lind was admitted with pneumonia and left in good health.';
  const document = await annal.createDocument(patient_id, { ...letter, date: '2026-03-20' }, text);
  const timeline = await annal.list('/v1/patients/{patient_id}/timeline', { patient_id, limit: 2 }).all();
  const [series] = await annal.list('/v1/patients/{patient_id}/series', { patient_id, code: '4548-4' }).all();
  const asked = { patient: patient_id, task: 'diabetes follow-up', window_days: 3650, budget_tokens: 800 };
  const context = await annal.post('/v1/context', { body: asked });
  const resource = await annal.fhir.read('Observation', measured.id);
  const summary = await annal.fhir.summary(patient_id);
  return { document, timeline, series, context, resource, summary };
}
