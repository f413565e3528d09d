/** The flow of docs/connect.md. `person` sends the browser to a URL, and returns the one that it came back with. */
import { AnnalApp, type ApiError, OAuthError } from '@annal/client';

const scopes = 'openid fhirUser launch/patient offline_access patient/Observation.crus patient/Condition.rs';
export async function connect(baseUrl: string, clientId: string, person: (url: string) => Promise<string>) {
  const redirectUri = 'http://localhost:5173/callback';
  const app = new AnnalApp({ baseUrl, clientId, redirectUri, scopes: scopes.split(' ') });
  const { url, pending } = await app.authorize({ purpose: 'treatment' });
  const tokens = await app.callback(await person(url), pending).catch((error: OAuthError) => error);
  if (tokens instanceof OAuthError) return { denied: tokens.error };
  const annal = app.connect(tokens);
  const { patient: id = '' } = tokens;
  const patient = await annal.fhir.read('Patient', id);
  const code = 'http://loinc.org|8867-4';
  const [rate] = await annal.fhir.search('Observation', { code, _sort: '-date' }).all(1);
  const weight = await annal.fhir.create({
    resourceType: 'Observation',
    status: 'final',
    code: { coding: [{ system: 'http://loinc.org', code: '29463-7', display: 'Body weight' }] },
    subject: { reference: `Patient/${id}` },
    effectiveDateTime: '2026-04-02T07:00:00+02:00',
    valueQuantity: { value: 71.5, unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' },
  });
  const better = [{ op: 'replace', path: '/valueQuantity/value', value: 71.8 }] as const;
  const corrected = await annal.fhir.patch('Observation', weight.id ?? '', better, { authorType: 'patient' });
  const others = annal.fhir.search('MedicationStatement').first();
  const refused = await others.catch((error: ApiError) => error.type);
  await app.revoke(await app.refresh(tokens));
  return { patient, rate, corrected, refused };
}
