/**
 * Makes an answer again from its material. Pure: no file, network, clock or chance. Together with all that it imports this
 * is what is archived as the renderer of a version of the program (docs/receipts.md).
 */
import { outwardText } from '#src/fhir/references/outward.ts';
import { IdExchange } from '#src/shared/access/id-exchange.ts';
import { isObject } from '#src/shared/json/json.ts';
import { renderContext } from './context.ts';
import type { Material } from './material.ts';
import { renderSummary } from './summary.ts';

/** Returns the bytes of an answer. @throws InputGone */
export async function renderAnswer(material: Material): Promise<Buffer> {
  return Buffer.from(await sendOutward(material, await renderInside(material)));
}

function renderInside(material: Material): Promise<string> {
  switch (material.kind) {
    case 'context':
      return renderContext(material);
    case 'summary':
      return renderSummary(material);
    default:
      throw new TypeError(`no renderer of ${material.kind}`);
  }
}

/** Returns a text as its reader got it: under a grant with the ids that the application knows. */
async function sendOutward(
  { record, inputs: { outward }, hiddenKey }: Material,
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
