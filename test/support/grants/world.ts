/** Random records: two that refer to each other, and the directory, as lists of versions in chronological order. */
import fc from 'fast-check';
import { newUuid } from '#src/shared/ids.ts';

/** Record types that the worlds use, each with the element that determines its record. */
const OWNERS = {
  Observation: 'subject',
  Condition: 'subject',
  DiagnosticReport: 'subject',
  DocumentReference: 'subject',
  MedicationStatement: 'subject',
  Encounter: 'subject',
  AllergyIntolerance: 'patient',
  Device: 'patient',
} as const;

/** Such a type. */
export type WorldType = keyof typeof OWNERS;

/** All of them. */
export const WORLD_TYPES = Object.keys(OWNERS) as readonly WorldType[];
/** Types that a scope may limit to a category. */
export const WITH_CATEGORY: readonly WorldType[] = [
  'Observation',
  'Condition',
  'DiagnosticReport',
  'DocumentReference',
];
/** Category codes. */
export const CATEGORIES = ['laboratory', 'vital-signs', 'survey'] as const;
/** Their system. */
export const CATEGORY_SYSTEM = 'http://terminology.hl7.org/CodeSystem/observation-category';

/** One version of a resource. If `body` is null, the version is a deletion. */
export interface Version {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly body: Readonly<Record<string, unknown>> | null;
  readonly categories: readonly string[];
  /** Ids of a Provenance's targets. */
  readonly targets?: readonly string[];
}

/** Everything that one owner has. */
export interface World {
  /** Ids of the Patients. */
  readonly mine: string;
  readonly other: string;
  readonly records: Readonly<Record<string, readonly Version[]>>;
  readonly directory: readonly Version[];
}

/** A resource that hasn't been given ids yet. */
interface Planned {
  readonly inOther: boolean;
  readonly type: WorldType;
  /** Categories of each version; null if the version is a deletion. */
  readonly versions: readonly (readonly string[] | null)[];
  /** Selects the resource that this resource refers to. */
  readonly refers: number;
  readonly value: number;
}

const categories = fc.subarray([...CATEGORIES]);
const planned: fc.Arbitrary<Planned> = fc.record({
  inOther: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
  type: fc.constantFrom(...WORLD_TYPES, 'Observation' as const, 'Observation' as const),
  versions: fc.oneof(
    { weight: 4, arbitrary: fc.tuple(categories) },
    { weight: 2, arbitrary: fc.tuple(categories, categories) },
    { weight: 1, arbitrary: fc.tuple(categories, fc.constant(null)) },
    { weight: 1, arbitrary: fc.tuple(categories, fc.constant(null), categories) },
    { weight: 1, arbitrary: fc.tuple(categories, categories, categories) },
  ),
  refers: fc.nat(1_000),
  value: fc.nat(9),
});

/** The plan that a world is built from. */
export interface Plan {
  readonly resources: readonly Planned[];
  /** Indexes of the targets of clients' own Provenances. */
  readonly claims: readonly (readonly number[])[];
}

/** Random plans. */
export const plans: fc.Arbitrary<Plan> = fc.record({
  resources: fc.array(planned, { minLength: 10, maxLength: 24 }),
  claims: fc.array(fc.array(fc.nat(1_000), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
});

const reference = (type: string, id: string) => ({ reference: `${type}/${id}` });
const concept = (system: string, code: string) => ({ coding: [{ system, code }] });

/** Builds a world from a plan, with ids and bodies. */
export function worldOf({ resources, claims }: Plan): World {
  const [mine, other, clinic, doctor] = [newUuid(), newUuid(), newUuid(), newUuid()];
  const made = resources.map((each) => ({ ...each, id: newUuid() }));
  const versions: Record<string, Version[]> = { [mine]: [], [other]: [] };
  const at = (n: number) => made[n % made.length];
  const directory: Version[] = [
    first('Organization', clinic, { name: 'Clinic' }),
    first('Practitioner', doctor, { name: [{ family: 'Ruiz' }] }),
  ];
  for (const [id, another, family] of [
    [mine, other, 'Sand'],
    [other, mine, 'Other'],
  ] as const)
    versions[id]?.push(
      first('Patient', id, {
        identifier: [{ system: 'urn:mrn', value: `M-${family}` }],
        name: [{ family }],
        birthDate: '1957-03-14',
        link: [{ other: { ...reference('Patient', another), display: 'A relative' }, type: 'seealso' }],
        managingOrganization: reference('Organization', clinic),
      }),
    );
  // Sorted by version number, so that later versions of a resource come after the first versions of other resources.
  for (let n = 0; n < 3; n += 1)
    for (const [place, each] of made.entries()) {
      const patient = each.inOther ? other : mine;
      const version = each.versions[n];
      if (version === undefined) continue;
      const before = each.versions[n - 1] ?? [];
      const target = at(each.refers);
      versions[patient]?.push({
        type: each.type,
        id: each.id,
        version: n + 1,
        categories: version ?? before,
        body:
          version === null
            ? null
            : bodyOf(each, patient, {
                ...{ n, place, clinic, doctor, categories: version },
                target:
                  target === undefined ? reference('Patient', other) : reference(target.type, target.id),
                elsewhere:
                  each.refers % 3 === 0 ? reference('Patient', each.inOther ? mine : other) : undefined,
              }),
      });
    }
  for (const claim of claims) {
    const targets = [...new Set(claim.map((n) => at(n)))].filter(
      (each) => each !== undefined && !each.inOther && each.versions.length > 0,
    );
    if (targets.length === 0) continue;
    const id = newUuid();
    versions[mine]?.push({
      ...first('Provenance', id, {
        target: targets.map((each) => reference(each?.type ?? '', each?.id ?? '')),
        recorded: '2026-01-01T00:00:00Z',
        agent: [{ who: reference('Practitioner', doctor) }],
      }),
      targets: targets.map((each) => each?.id ?? ''),
    });
  }
  return { mine, other, records: versions, directory };
}

function first(type: string, id: string, body: object): Version {
  return { type, id, version: 1, categories: [], body: { ...body } };
}

interface Details {
  readonly n: number;
  readonly place: number;
  readonly clinic: string;
  readonly doctor: string;
  readonly categories: readonly string[];
  readonly target: { readonly reference: string };
  readonly elsewhere: { readonly reference: string } | undefined;
}

function bodyOf(
  { type, value }: Planned,
  patient: string,
  { n, place, clinic, doctor, categories: codes, target, elsewhere }: Details,
): Record<string, unknown> {
  const category = codes.map((code) => concept(CATEGORY_SYSTEM, code));
  const limited = WITH_CATEGORY.includes(type) && category.length > 0 ? { category } : {};
  const common = {
    identifier: [{ system: 'urn:thing', value: `T-${place}` }],
    [OWNERS[type]]: { ...reference('Patient', patient), display: 'The patient' },
    ...limited,
  };
  switch (type) {
    case 'Observation':
      return {
        ...common,
        status: 'final',
        code: concept('http://loinc.org', value % 2 === 0 ? '4548-4' : '718-7'),
        effectiveDateTime: `2026-01-0${1 + value}`,
        valueQuantity: { value: value + n, unit: '%', system: 'http://unitsofmeasure.org', code: '%' },
        performer: [reference('Practitioner', doctor), reference('Organization', clinic)],
        ...(elsewhere === undefined ? {} : { focus: [elsewhere, { ...elsewhere, display: 'Also' }] }),
        ...(target.reference.startsWith('Observation/') ? { hasMember: [target] } : {}),
      };
    case 'Condition':
      return {
        ...common,
        code: concept('http://hl7.org/fhir/sid/icd-10', 'M10'),
        onsetDateTime: '2025-01-01',
        asserter: reference('Practitioner', doctor),
        ...(target.reference.startsWith('Encounter/') ? { encounter: target } : {}),
        evidence: [{ detail: [elsewhere ?? target] }],
      };
    case 'DiagnosticReport':
      return {
        ...common,
        status: 'final',
        code: { text: 'Report' },
        ...(target.reference.startsWith('Observation/') ? { result: [target] } : {}),
      };
    case 'DocumentReference':
      return {
        ...common,
        status: 'current',
        date: `2026-02-0${1 + value}T00:00:00Z`,
        content: [{ attachment: { contentType: 'text/plain', title: 'Letter' } }],
        context: { related: [elsewhere ?? target] },
      };
    case 'MedicationStatement':
      return {
        ...common,
        status: 'active',
        medicationCodeableConcept: concept('http://www.whocc.no/atc', 'A10BA02'),
      };
    case 'Encounter':
      return { ...common, status: 'finished', class: { code: 'AMB' } };
    case 'AllergyIntolerance':
      return { ...common, code: { text: 'Nuts' }, recorder: reference('Practitioner', doctor) };
    case 'Device':
      return { ...common, status: 'active' };
  }
}

/**
 * Returns the members that a resource of a type needs, without categories and identifiers.
 * @param subject `Patient/<id>`
 */
export function resourceOf(type: WorldType, subject: string, value: number): Record<string, unknown> {
  const patient = { [OWNERS[type]]: { reference: subject, display: 'The patient' } };
  switch (type) {
    case 'Observation':
      return {
        ...patient,
        status: 'final',
        code: concept('http://loinc.org', '718-7'),
        effectiveDateTime: `2026-03-0${1 + (value % 9)}`,
        valueQuantity: { value, unit: '%', system: 'http://unitsofmeasure.org', code: '%' },
      };
    case 'Condition':
      return { ...patient, code: { text: 'Gout' } };
    case 'DiagnosticReport':
      return { ...patient, status: 'final', code: { text: 'Report' } };
    case 'DocumentReference':
      return { ...patient, status: 'current', content: [{ attachment: { contentType: 'text/plain' } }] };
    case 'MedicationStatement':
      return { ...patient, status: 'active', medicationCodeableConcept: { text: 'Tea' } };
    case 'Encounter':
      return { ...patient, status: 'finished', class: { code: 'AMB' } };
    case 'AllergyIntolerance':
      return {
        ...patient,
        clinicalStatus: concept(
          'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical',
          'active',
        ),
        code: { text: 'Nuts' },
      };
    case 'Device':
      return { ...patient, status: 'active' };
  }
}
