/** Converts the code systems of HL7 v2 (table 0396) to URIs: https://terminology.hl7.org/identifiers.html */
import { ATC, ICD_10, LOINC, UCUM } from '../v1/elements.ts';

/** Names in table 0396, and other spellings of them, in upper case → URI. */
const SYSTEMS: Readonly<Record<string, string>> = {
  LN: LOINC,
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
/** Matches names for codes that a laboratory defined itself. */
const LOCAL = /^(?:L|99.*)?$/;
const OID = /^[0-2](?:\.(?:0|[1-9]\d*)){1,200}$/;
/** Base URI of codes that only their sender defines. */
const LOCAL_CODES = 'https://annal.dev/fhir/local-code';

/**
 * Returns the URI of a code system.
 * @param name as in table 0396; `L`, `99…` and unknown names are the sender's own.
 * @param oid its OID, if the message has it.
 * @param sender the sender of the message: own codes of two laboratories are always distinct.
 * @returns undefined for own codes of an unknown sender.
 */
export function systemOf(name: string, oid: string, sender: string): string | undefined {
  const upper = name.trim().toUpperCase();
  const known = SYSTEMS[upper];
  if (known !== undefined) return known;
  if (OID.test(oid)) return `urn:oid:${oid}`;
  const [, table] = /^HL7(\d{4})$/.exec(upper) ?? [];
  if (table !== undefined) return `http://terminology.hl7.org/CodeSystem/v2-${table}`;
  return localSystem(sender, LOCAL.test(upper) && !upper.startsWith('99') ? '' : name.trim());
}

/**
 * Returns the system of a sender's own codes.
 * @param name of one of several systems of the sender
 */
export function localSystem(sender: string, name = ''): string | undefined {
  if (sender === '') return undefined;
  const parts = name === '' ? [sender] : [sender, name];
  return [LOCAL_CODES, ...parts.map(encodeURIComponent)].join('/');
}

/** Returns the URI of an identifier's issuer: its OID or URI, or else its name in the sender's own namespace. */
export function authorityOf(name: string, universal: string): string | undefined {
  if (OID.test(universal)) return `urn:oid:${universal}`;
  if (/^(?:https?:|urn:)\S+$/.test(universal)) return universal;
  const of = name === '' ? universal : name;
  return of === '' ? undefined : `https://annal.dev/fhir/assigner/${encodeURIComponent(of)}`;
}
