/** Code systems of HL7 v2 (table 0396) as URIs: https://terminology.hl7.org/identifiers.html */
import { ATC, ICD_10, LOINC, UCUM } from '../v1/elements.ts';

/** Names of table 0396, and spellings beside them → URI. Upper case. */
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
/** Names of codes that a laboratory made itself. */
const LOCAL = /^(?:L|99.*)?$/;
const OID = /^[0-2](?:\.(?:0|[1-9]\d*)){1,200}$/;
/** Of codes that only their sender knows. */
const LOCAL_CODES = 'https://annal.dev/fhir/local-code';

/**
 * The URI of a code system.
 * @param name as table 0396 has it; `L`, `99…` and names that are not known are the sender's own.
 * @param oid its OID, where the message says it.
 * @param sender who sent the message: two laboratories' own codes are never the same.
 * @returns undefined for own codes of nobody.
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

/** The system of codes that their sender made. @param name of one of several of the sender's */
export function localSystem(sender: string, name = ''): string | undefined {
  if (sender === '') return undefined;
  const parts = name === '' ? [sender] : [sender, name];
  return [LOCAL_CODES, ...parts.map(encodeURIComponent)].join('/');
}

/** The URI of who assigns an identifier: an OID or URI of it, else its name in the sender's own namespace. */
export function authorityOf(name: string, universal: string): string | undefined {
  if (OID.test(universal)) return `urn:oid:${universal}`;
  if (/^(?:https?:|urn:)\S+$/.test(universal)) return universal;
  const of = name === '' ? universal : name;
  return of === '' ? undefined : `https://annal.dev/fhir/assigner/${encodeURIComponent(of)}`;
}
