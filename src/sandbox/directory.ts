/**
 * Creates the directory that the synthetic patients share: a hospital, a practice, their staff, rooms, medications, and a
 * device.
 */
import type { JsonObject } from '#src/shared/json/json.ts';
import { ATC, DRUGS, type Drug } from './codes.ts';
import { COUNTRIES } from './countries.ts';
import { type Day, dateText } from './days.ts';
import { humanNames } from './people.ts';
import type { Random } from './random.ts';
import type { Authored } from './synthetic.ts';

/** References to the directory entries that records refer to. */
export interface Directory {
  readonly entries: readonly Authored[];
  readonly hospital: string;
  readonly practice: string;
  readonly ward: string;
  readonly surgery: string;
  /** General practitioners first. */
  readonly practitioners: readonly string[];
  readonly roles: readonly string[];
  readonly medications: ReadonlyMap<Drug, string>;
  readonly analyser: string;
}

const SPECIALTIES = [
  'General practice',
  'General practice',
  'Internal medicine',
  'Cardiology',
  'Paediatrics',
  'Surgery',
] as const;
/** Drugs stored as Medication resources; other drugs are named in the statements themselves. */
const STOCK: readonly Drug[] = ['A10BA02', 'C09AA03', 'H03AA01', 'B01AA03', 'R03AC02'];

/**
 * Creates the directory.
 * @param draw returns the next id
 */
export function makeDirectory(random: Random, today: Day, draw: () => string): Directory {
  const entries: Authored[] = [];
  const author = { type: 'import', sourceSystem: 'hospital-register' } as const;
  const add = (type: Authored['type'], content: JsonObject): string => {
    const id = draw();
    entries.push({ type, id, resource: { resourceType: type, id, ...content }, author });
    return `${type}/${id}`;
  };
  const organization = (name: string): string => add('Organization', { active: true, name });
  const hospital = organization('Riverside Teaching Hospital');
  const practice = organization('Old Market Family Practice');
  const location = (name: string, of: string): string =>
    add('Location', { status: 'active', name, mode: 'instance', managingOrganization: { reference: of } });
  const ward = location('Ward 3, internal medicine', hospital);
  const surgery = location('Consulting room 1', practice);
  const practitioners: string[] = [];
  const roles: string[] = [];
  SPECIALTIES.forEach((specialty, index) => {
    const country = random.pick(COUNTRIES);
    const sex = random.pick(['female', 'male'] as const);
    const women = sex === 'female' ? (country.familyOfWomen ?? country.family) : country.family;
    const practitioner = add('Practitioner', {
      identifier: [{ system: 'urn:annal:sandbox:practitioner-number', value: `P-${index + 1}` }],
      active: true,
      name: humanNames({ given: random.pick(country[sex]), family: random.pick(women) }),
      gender: sex,
      qualification: [{ code: { text: specialty } }],
    });
    practitioners.push(practitioner);
    roles.push(
      add('PractitionerRole', {
        active: true,
        period: { start: dateText(today - 25 * 365 - random.int(0, 700)) },
        practitioner: { reference: practitioner },
        organization: { reference: index < 2 ? practice : hospital },
        specialty: [{ text: specialty }],
        location: [{ reference: index < 2 ? surgery : ward }],
      }),
    );
  });
  const medications = new Map(
    STOCK.map((drug) => {
      const code = { coding: [{ system: ATC, code: drug, display: DRUGS[drug] }], text: DRUGS[drug] };
      return [drug, add('Medication', { code, status: 'active' })];
    }),
  );
  const analyser = add('Device', {
    status: 'active',
    manufacturer: 'Clearwater Instruments',
    deviceName: [{ name: 'Chemistry analyser 200', type: 'model-name' }],
    owner: { reference: hospital },
  });
  return { entries, hospital, practice, ward, surgery, practitioners, roles, medications, analyser };
}
