/** Converts a patient's devices to DeviceUseStatements, because the summary's section for devices doesn't allow Devices. */
import { type JsonObject, printJson } from '#src/shared/json/json.ts';
import { derivedId } from './composition.ts';
import { UNKNOWN } from './required.ts';
import type { Source, Stored } from './source.ts';

/**
 * Returns a DeviceUseStatement with the same meaning as Device.patient: the patient uses the device. It exists only in the
 * document.
 */
export function makeDeviceUse({ id: device }: Stored, patient: Source, base: string): Source {
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
