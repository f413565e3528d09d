/** A patient's devices in a summary, whose section takes no Device but statements that one is used. */
import { type JsonObject, printJson } from '#src/shared/json.ts';
import { derivedId } from './composition.ts';
import { UNKNOWN } from './required.ts';
import type { Source, Stored } from './source.ts';

/** The statement that a patient uses a device: what Device.patient says. It exists in the document alone. */
export function useOf({ id: device }: Stored, patient: Source, base: string): Source {
  const id = derivedId(`Device/${device}#use`);
  const value: JsonObject = {
    resourceType: 'DeviceUseStatement',
    id,
    status: 'active',
    subject: { reference: base + patient.key },
    _timingDateTime: UNKNOWN,
    device: { reference: `${base}Device/${device}` },
  };
  return { key: `DeviceUseStatement/${id}`, type: 'DeviceUseStatement', id, body: printJson(value), value };
}
