/** Converts texts to the form in which their readers received them: under a grant, with the ids that the application knows. */
import { outwardText } from '#src/fhir/references/outward.ts';
import { IdExchange } from '#src/shared/access/id-exchange.ts';
import { isObject } from '#src/shared/json/json.ts';
import type { Material } from './material.ts';

/**
 * Returns a text as its reader received it.
 * @param material its input `outward` contains what was looked up to convert ids for the grant
 */
export async function sendOutward(
  { record, inputs: { outward }, hiddenKey }: Pick<Material, 'record' | 'inputs' | 'hiddenKey'>,
  text: string,
): Promise<string> {
  if (!isObject(outward)) return text;
  const { patient, base, foreign } = outward;
  const others = new Set(Array.isArray(foreign) ? foreign : []);
  const within = (_: string, ids: readonly string[]): Promise<ReadonlySet<string>> =>
    Promise.resolve(new Set(ids.filter((id) => !others.has(id))));
  const ids = new IdExchange({ record, patient: String(patient) }, Buffer.from(hiddenKey, 'base64'));
  return outwardText(text, ids, { record, base: String(base), within });
}
