/** Converts HL7 v2's code systems (table 0396) to URIs: https://terminology.hl7.org/identifiers.html */
import { ATC, ICD_10, LOINC, UCUM } from '../v1/elements.ts';

/** Names in table 0396 and their other spellings, in upper case → URI. */
const SYSTEMS: Readonly<Record<string, string>> = {
  LN: LOINC,
  LNC: LOINC,
  LOINC,
  SCT: 'http://snomed.info/sct',
  'SNOMED-CT': 'http://snomed.info/sct',
  I10: ICD_10,
  I10C: 'http://hl7.org/fhir/sid/icd-10-cm',
  I9C: 'http://hl7.org/fhir/sid/icd-9-cm',
  ATC,
  UCUM,
  C4: 'http://www.ama-assn.org/go/cpt',
  CVX: 'http://hl7.org/fhir/sid/cvx',
  NDC: 'http://hl7.org/fhir/sid/ndc',
  RXNORM: 'http://www.nlm.nih.gov/research/umls/rxnorm',
};
/** OIDs of code systems that have a URI other than their OID: https://terminology.hl7.org/identifiers.html */
const BY_OID: Readonly<Record<string, string>> = {
  '2.16.840.1.113883.6.1': LOINC,
  '2.16.840.1.113883.6.96': 'http://snomed.info/sct',
  '2.16.840.1.113883.6.3': ICD_10,
  '2.16.840.1.113883.6.90': 'http://hl7.org/fhir/sid/icd-10-cm',
  '2.16.840.1.113883.6.73': ATC,
  '2.16.840.1.113883.6.8': UCUM,
  '2.16.840.1.113883.6.12': 'http://www.ama-assn.org/go/cpt',
  '2.16.840.1.113883.12.292': 'http://hl7.org/fhir/sid/cvx',
  '2.16.840.1.113883.6.69': 'http://hl7.org/fhir/sid/ndc',
  '2.16.840.1.113883.6.88': 'http://www.nlm.nih.gov/research/umls/rxnorm',
};
/** Matches names of code systems that a laboratory defined itself. */
const LOCAL = /^(?:L|99.*)?$/;
const OID = /^[0-2](?:\.(?:0|[1-9]\d*)){1,200}$/;
/** Base URI of code systems that only their sender defines. */
const LOCAL_CODES = 'https://annal.dev/fhir/local-code';

/**
 * Returns the URI of a code system.
 * @param name as in table 0396; `L`, `99…` and unknown names are the sender's own systems
 * @param oid the code system's OID, if the message states it
 * @param sender the sender of the message: two laboratories' own codes are always distinct
 * @returns undefined for an unknown sender's own codes
 */
export function findSystem(name: string, oid: string, sender: string): string | undefined {
  const upper = name.trim().toUpperCase();
  const known = knownSystem(name) ?? knownSystem(oid);
  if (known !== undefined) return known;
  if (OID.test(oid)) return `urn:oid:${oid}`;
  const [, table] = /^HL7(\d{4})$/.exec(upper) ?? [];
  if (table !== undefined) return `http://terminology.hl7.org/CodeSystem/v2-${table}`;
  return localSystem(sender, LOCAL.test(upper) && !upper.startsWith('99') ? '' : name.trim());
}

/** Returns the URI of a code system by its name in table 0396, its OID, or its OID as a URI; undefined for unknown names. */
export function knownSystem(name: string): string | undefined {
  const own = name.trim().replace(/^urn:oid:/i, '');
  if (Object.hasOwn(BY_OID, own)) return BY_OID[own];
  const upper = own.toUpperCase();
  return Object.hasOwn(SYSTEMS, upper) ? SYSTEMS[upper] : undefined;
}

/**
 * Returns the system of a sender's own codes.
 * @param name the system's name, if the sender has several systems
 */
export function localSystem(sender: string, name = ''): string | undefined {
  if (sender === '') return undefined;
  const parts = name === '' ? [sender] : [sender, name];
  return [LOCAL_CODES, ...parts.map(encodeURIComponent)].join('/');
}

/** Returns the URI of an identifier's issuer: its OID or URI, or otherwise its name within the sender's own namespace. */
export function findAuthority(name: string, universal: string): string | undefined {
  if (OID.test(universal)) return `urn:oid:${universal}`;
  if (/^(?:https?:|urn:)\S+$/.test(universal)) return universal;
  const of = name === '' ? universal : name;
  return of === '' ? undefined : `https://annal.dev/fhir/assigner/${encodeURIComponent(of)}`;
}
