/** Parts of messages for tests; all are about one patient and from one laboratory. */

/**
 * Returns a header with a version.
 * @param more fields 8 and later: type, control id, processing id, version …
 */
export const msh = (version = '2.5.1', more = ''): string =>
  `MSH|^~\\&|LIS|CITYLAB|EHR|CLINIC|20260331093000+0200||ORU^R01^ORU_R01|M1|P|${version}${more}`;
/** The PID segment for `PATIENT`. */
export const PID = 'PID|1||4711^^^CLINIC&1.2.3.4&ISO^MR||Berg^Anna||19700102|F';
/** An order at 8 o'clock, reported as final. */
export const OBR =
  'OBR|1|P100|F100^LIS|24323-8^Metabolic panel^LN|||20260331080000+0200|||||||||||||||20260331092500+0200||CH|F';

/** Returns a message with a header, the patient and the given segments. */
export const oru = (...segments: readonly string[]): string => [msh(), PID, ...segments].join('\r');
/** Returns a message with one order and the given results. */
export const results = (...obx: readonly string[]): string => oru(OBR, ...obx);
/** The code for glucose in OBX-3. */
export const GLUCOSE = '2345-7^Glucose^LN';
/**
 * Returns a message with one glucose result.
 * @param rest the fields from OBX-6 on
 */
export const one = (type: string, value: string, rest?: string): string =>
  results(`OBX|1|${type}|${GLUCOSE}||${value}|${rest ?? '|||||F'}`);
/** Returns a message whose lines end with LF. */
export const LF = (text: string): string => text.replaceAll('\r', '\n');
/** Returns a text as Latin-1 bytes. */
export const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
/** Returns a message that contains a text, with the name of its character set in MSH-18. */
export const SWEDISH = (charset: string, name: string): string =>
  [msh('2.5.1', `||||||${charset}`), PID, OBR, `OBX|1|ST|${GLUCOSE}||${name}||||||F`].join('\r');

/** A form of message. */
export interface Form {
  readonly name: string;
  readonly text: string | Buffer;
}

/** Returns a form. */
export const form = (name: string, text: string | Buffer): Form => ({ name, text });

/** The Patient that `PID` describes. */
export const PATIENT = {
  resourceType: 'Patient',
  name: [{ family: 'Berg', given: ['Anna'] }],
  birthDate: '1970-01-02',
  gender: 'female',
  identifier: [{ system: 'urn:oid:1.2.3.4', value: '4711' }],
};
