import { scaled } from '#test/support/scale.ts';
/** Bodies as large as the service accepts. The form of each body makes some computation expensive. */

/**
 * A request with such a body. In its path and body, `{patient}` is a Patient's id and `{observation}` an Observation's.
 */
export interface LargeRequest {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly type: string;
  /**
   * Returns the body.
   * @param bytes approximate length
   */
  readonly body: (bytes: number) => string;
  /** True if the limit of 25 MB for Bundles applies instead of 10 MB. */
  readonly bundle?: true;
  /** The status that the response must have; if absent, any status is allowed except a server error. */
  readonly status?: number;
  /** A resource that is created first; path and body refer to it as `{made}`. */
  readonly made?: { readonly type: string; readonly body: (bytes: number) => string };
}

const FHIR = 'application/fhir+json';
const JSON_PATCH = 'application/json-patch+json';
const BLOOD = '{"coding":[{"system":"http://loinc.org","code":"2345-7"}]}';

/** Returns a text repeated with a separator, up to approximately the given length. */
export function filled(bytes: number, part: (n: number) => string, between = ','): string {
  const parts: string[] = [];
  for (let length = 0, n = 0; length < bytes; n += 1) {
    const one = part(n);
    parts.push(one);
    length += one.length + between.length;
  }
  return parts.join(between);
}

const observation = (members: string): string =>
  `{"resourceType":"Observation","status":"final","code":${BLOOD},"subject":{"reference":"Patient/{patient}"},${members}}`;
const patient = (members: string): string => `{"resourceType":"Patient",${members}}`;
const names = (bytes: number): string => patient(`"name":[${filled(bytes, (n) => `{"family":"F${n}"}`)}]`);
const bundle = (type: string, entries: string): string =>
  `{"resourceType":"Bundle","type":"${type}","entry":[${entries}]}`;
/** Of a JSON Patch. */
const OPERATIONS = scaled(10_000, 500);
const ENTRIES = scaled(5_000, 300);
const padded = (bytes: number): string => 'x'.repeat(Math.max(0, Math.floor(bytes)));
const fhirPathPatch = (operations: readonly string[]): string =>
  `{"resourceType":"Parameters","parameter":[${operations.map((parts) => `{"name":"operation","part":[${parts}]}`)}]}`;
const pathPatch = (type: string, path: string): string =>
  `{"name":"type","valueCode":"${type}"},{"name":"path","valueString":${JSON.stringify(path)}}`;
const segments = (lines: string): string =>
  `MSH|^~\\&|LIS|LAB|||20260331093000+0200||ORU^R01|M1|P|2.5.1\rPID|1\rOBR|1||F100|24323-8^Panel^LN|||20260331080000+0200\r${lines}`;
const IPS = 'http://hl7.org/fhir/uv/ips/StructureDefinition/';
const LABS = '/v1/patients/{patient}/labs/import';
const HL7 = 'x-application/hl7-v2+er7';

const create = (name: string, type: string, body: (bytes: number) => string): LargeRequest => ({
  name,
  method: 'POST',
  path: `/fhir/R4/${type}`,
  type: FHIR,
  body,
});
const validate = (name: string, type: string, body: (bytes: number) => string, query = ''): LargeRequest =>
  create(name, `${type}/$validate${query}`, body);
const onNames = (name: string, type: string, body: (bytes: number) => string): LargeRequest => ({
  name,
  method: 'PATCH',
  path: '/fhir/R4/Patient/{made}',
  type,
  body,
  made: { type: 'Patient', body: (bytes) => names(Math.min(bytes, 680_000)) },
});
const post = (name: string, path: string, type: string, body: (bytes: number) => string): LargeRequest => ({
  name,
  method: 'POST',
  path,
  type,
  body,
});
const ofBundle = (name: string, path: string, body: (bytes: number) => string): LargeRequest => ({
  ...post(name, path, FHIR, body),
  bundle: true,
});

/** The corpus. */
export const LARGE_REQUESTS: readonly LargeRequest[] = [
  create('a Patient of as many values as one may have', 'Patient', (bytes) =>
    names(Math.min(bytes, 680_000)),
  ),
  create('an Observation of as many values, decimals with zeros at their ends', 'Observation', (bytes) =>
    observation(
      `"component":[${filled(Math.min(bytes, 850_000), (n) => `{"code":${BLOOD},"valueQuantity":{"value":${n}.50,"unit":"mg"}}`)}]`,
    ),
  ),
  create('an Observation of as many values, ranges in two units', 'Observation', (bytes) =>
    observation(
      `"component":[${filled(Math.min(bytes, 1_500_000), () => `{"code":${BLOOD},"valueRange":{"low":{"value":1,"unit":"g","system":"http://unitsofmeasure.org","code":"g"},"high":{"value":2000,"unit":"mg","system":"http://unitsofmeasure.org","code":"mg"}}}`)}]`,
    ),
  ),
  create('an Observation of as many values, contained resources', 'Observation', (bytes) =>
    observation(
      `"contained":[${filled(Math.min(bytes, 900_000), (n) => `{"resourceType":"Patient","id":"c${n}"}`)}],"focus":[${filled(Math.min(bytes, 400_000), (n) => `{"reference":"#c${n}"}`)}]`,
    ),
  ),
  create(
    'a code of many words',
    'Observation',
    (bytes) =>
      `{"resourceType":"Observation","status":"final","code":{"coding":[{"system":"urn:a","code":"${'a '.repeat(bytes / 2)}a"}]},"subject":{"reference":"Patient/{patient}"}}`,
  ),
  create(
    'a media type of many parameters',
    'DocumentReference',
    (bytes) =>
      `{"resourceType":"DocumentReference","status":"current","subject":{"reference":"Patient/{patient}"},"content":[{"attachment":{"contentType":"a/b${';c=d'.repeat(bytes / 4)}"}}]}`,
  ),
  create(
    'JSON with a key twice, one of them a long text of escapes',
    'Patient',
    (bytes) => `{"resourceType":"Patient","id":"${'\\n'.repeat(bytes / 2)}","id":"a"}`,
  ),
  post(
    'a v1 Observation with a code of many words',
    '/v1/patients/{patient}/observations',
    'application/json',
    (bytes) => `{"code":"${'a '.repeat(bytes / 2)}a"}`,
  ),
  post('a message with a payload in hexadecimal', LABS, HL7, (bytes) =>
    segments(`OBX|1|ED|2345-7^Glucose^LN||^application^octet-stream^HEX^${'00'.repeat(bytes / 2)}|||||F`),
  ),
  post('a message with one long escape', LABS, HL7, (bytes) =>
    segments(`OBX|1|TX|2345-7^Glucose^LN||\\X${'41'.repeat(bytes / 2)}\\|||||F`),
  ),
  create('a Patient of short names', 'Patient', names),
  create('a Patient of empty objects', 'Patient', (bytes) =>
    patient(`"name":[${filled(bytes, () => '{}')}]`),
  ),
  create('a Patient of numbers where texts belong', 'Patient', (bytes) =>
    patient(`"name":[{"given":[${filled(bytes, () => '1')}]}]`),
  ),
  create('a Patient with one long name', 'Patient', (bytes) =>
    patient(`"name":[{"family":"${padded(bytes)}"}]`),
  ),
  create('a Patient of identifiers', 'Patient', (bytes) =>
    patient(`"identifier":[${filled(bytes, (n) => `{"system":"urn:a","value":"${n}"}`)}]`),
  ),
  create('a Patient of unknown members', 'Patient', (bytes) => patient(filled(bytes, (n) => `"k${n}":1`))),
  create('a Patient of addresses in capitals with accents', 'Patient', (bytes) =>
    patient(`"address":[{"text":"${'É'.repeat(Math.floor(bytes / 2))}"}]`),
  ),
  create('an Observation of decimals with zeros at their ends', 'Observation', (bytes) =>
    observation(
      `"component":[${filled(bytes, (n) => `{"code":${BLOOD},"valueQuantity":{"value":${n}.50,"unit":"mg"}}`)}]`,
    ),
  ),
  create('an Observation of ranges in two units', 'Observation', (bytes) =>
    observation(
      `"referenceRange":[${filled(bytes, () => '{"low":{"value":1,"unit":"g","system":"http://unitsofmeasure.org","code":"g"},"high":{"value":2,"unit":"mg","system":"http://unitsofmeasure.org","code":"mg"}}')}]`,
    ),
  ),
  create('an Observation of sampled data', 'Observation', (bytes) =>
    observation(
      `"valueSampledData":{"origin":{"value":1},"period":1,"dimensions":1,"data":"${filled(bytes, (n) => String(n % 9), ' ')}"}`,
    ),
  ),
  create('an Observation of references', 'Observation', (bytes) =>
    observation(`"focus":[${filled(bytes, () => '{"reference":"Patient/x"}')}]`),
  ),
  create('an Observation of contained resources', 'Observation', (bytes) =>
    observation(
      `"contained":[${filled(bytes / 2, (n) => `{"resourceType":"Patient","id":"c${n}"}`)}],"focus":[${filled(bytes / 2, (n) => `{"reference":"#c${n}"}`)}]`,
    ),
  ),
  create('an Observation of contained resources with one id', 'Observation', (bytes) =>
    observation(
      `"contained":[${filled(bytes, () => '{"resourceType":"Patient","id":"c"}')}],"focus":[{"reference":"#c"}]`,
    ),
  ),
  create('an Observation of extensions in extensions', 'Observation', (bytes) =>
    observation(
      `"extension":[${filled(bytes, () => `${'{"url":"urn:a","extension":['.repeat(20)}{"url":"urn:a","valueString":"a"}${']}'.repeat(20)}`)}]`,
    ),
  ),
  create('a narrative of elements', 'Observation', (bytes) =>
    observation(
      `"text":{"status":"additional","div":"<div xmlns='http://www.w3.org/1999/xhtml'>${filled(bytes, () => '<b>a</b>', '')}</div>"}`,
    ),
  ),
  create('a narrative of attributes', 'Observation', (bytes) =>
    observation(
      `"text":{"status":"additional","div":"<div xmlns='http://www.w3.org/1999/xhtml'><p ${filled(bytes, () => "class='a'", ' ')}>a</p></div>"}`,
    ),
  ),
  create('a narrative of ampersands', 'Observation', (bytes) =>
    observation(
      `"text":{"status":"additional","div":"<div xmlns='http://www.w3.org/1999/xhtml'>${filled(bytes, () => '&amp;', '')}</div>"}`,
    ),
  ),
  create('a narrative of an element that does not end', 'Observation', (bytes) =>
    observation(
      `"text":{"status":"additional","div":"<div xmlns='http://www.w3.org/1999/xhtml'><p class='${padded(bytes)}</div>"}`,
    ),
  ),
  create(
    'a document with its bytes',
    'DocumentReference',
    (bytes) =>
      `{"resourceType":"DocumentReference","status":"current","subject":{"reference":"Patient/{patient}"},"content":[{"attachment":{"contentType":"application/octet-stream","data":"${'QUJD'.repeat(Math.floor(bytes / 4))}"}}]}`,
  ),
  create(
    'a document with many attachments',
    'DocumentReference',
    (bytes) =>
      `{"resourceType":"DocumentReference","status":"current","subject":{"reference":"Patient/{patient}"},"content":[${filled(bytes, () => '{"attachment":{"title":"a"}}')}]}`,
  ),
  create('JSON that ends too early', 'Patient', (bytes) => names(bytes).slice(0, -1)),
  create(
    'JSON with a key twice at its end',
    'Patient',
    (bytes) => `${names(bytes).slice(0, -1)},"id":"a","id":"b"}`,
  ),
  create('JSON of numbers with long literals', 'Patient', (bytes) =>
    patient(`"name":[${filled(bytes, () => '1.0')}]`),
  ),
  create('JSON of brackets', 'Patient', (bytes) => patient(`"name":[${filled(bytes, () => '[]')}]`)),
  create('JSON of escapes', 'Patient', (bytes) =>
    patient(`"name":[{"family":"${'\\u0061'.repeat(Math.floor(bytes / 6))}"}]`),
  ),
  onNames(
    'a JSON Patch of insertions at the front of a long list',
    JSON_PATCH,
    () =>
      `[${Array.from({ length: OPERATIONS }, () => '{"op":"add","path":"/name/0","value":{"family":"A"}}')}]`,
  ),
  onNames('a JSON Patch of tests of the whole', JSON_PATCH, (bytes) => {
    const value = `[${filled(bytes / 2, (n) => `{"family":"F${n}"}`)}]`;
    return `[{"op":"add","path":"/name","value":${value}},{"op":"test","path":"/name","value":${value}}]`;
  }),
  onNames(
    'a JSON Patch of moves of the whole',
    JSON_PATCH,
    () =>
      `[${Array.from({ length: OPERATIONS / 2 }, (_, n) => `{"op":"move","from":"/name${n % 2 ? '2' : ''}","path":"/name${n % 2 ? '' : '2'}"}`)}]`,
  ),
  onNames(
    'a JSON Patch of copies',
    JSON_PATCH,
    () => `[${Array.from({ length: OPERATIONS }, () => '{"op":"copy","from":"/name","path":"/name/-"}')}]`,
  ),
  onNames(
    'a JSON Patch of removals',
    JSON_PATCH,
    () => `[${Array.from({ length: OPERATIONS }, () => '{"op":"remove","path":"/name/0"}')}]`,
  ),
  onNames('a FHIRPath Patch that compares collections', FHIR, () =>
    fhirPathPatch([pathPatch('delete', 'Patient.name.where((family | given) ~ (family | %context.name))')]),
  ),
  onNames('a FHIRPath Patch with a union of all names', FHIR, () =>
    fhirPathPatch([pathPatch('delete', '(Patient.name.family | Patient.name.given).first()')]),
  ),
  onNames('a FHIRPath Patch of many criteria', FHIR, () =>
    fhirPathPatch(
      Array.from({ length: scaled(150, 10) }, () =>
        pathPatch('delete', "Patient.name.where(family.lower().contains('zzz'))"),
      ),
    ),
  ),
  onNames('a FHIRPath Patch of one name', FHIR, () =>
    fhirPathPatch([`${pathPatch('replace', 'Patient.name[0].family')},{"name":"value","valueString":"New"}`]),
  ),
  onNames('a FHIRPath Patch of a thousand names', FHIR, () =>
    fhirPathPatch(
      Array.from(
        { length: scaled(1_000, 50) },
        (_, n) => `${pathPatch('replace', `Patient.name[${n}].family`)},{"name":"value","valueString":"New"}`,
      ),
    ),
  ),
  {
    name: 'an update of a Patient of short names',
    method: 'PUT',
    path: '/fhir/R4/Patient/{made}',
    type: FHIR,
    body: (bytes) => `{"id":"{made}",${names(bytes).slice(1)}`,
    made: { type: 'Patient', body: () => patient('"active":true') },
  },
  ofBundle('a transaction of 5,000 Observations', '/fhir/R4', (bytes) =>
    bundle(
      'transaction',
      Array.from(
        { length: ENTRIES },
        (_, n) =>
          `{"fullUrl":"urn:uuid:00000000-0000-4000-8000-${String(n).padStart(12, '0')}","resource":${observation(`"note":[{"text":"${padded(Math.max(1, Math.min(bytes, 9e6) / ENTRIES - 400))}"}]`)},"request":{"method":"POST","url":"Observation"}}`,
      ).join(),
    ),
  ),
  ofBundle('a batch of 5,000 Observations', '/fhir/R4', (bytes) =>
    bundle(
      'batch',
      Array.from(
        { length: Math.min(ENTRIES, bytes / 1_000) },
        () =>
          `{"resource":${observation(`"note":[{"text":"${padded(bytes / ENTRIES - 400)}"}]`)},"request":{"method":"POST","url":"Observation"}}`,
      ).join(),
    ),
  ),
  ofBundle('a transaction of more than 12 MB', '/fhir/R4', (bytes) =>
    bundle(
      'transaction',
      Array.from(
        { length: ENTRIES },
        () =>
          `{"resource":${observation(`"component":[${filled(bytes / ENTRIES - 300, (n) => `{"code":${BLOOD},"valueQuantity":{"value":${n}.50}}`)}]`)},"request":{"method":"POST","url":"Observation"}}`,
      ).join(),
    ),
  ),
  ofBundle('a transaction of large resources', '/fhir/R4', (bytes) =>
    bundle(
      'transaction',
      Array.from(
        { length: 2 },
        () =>
          `{"resource":${observation(`"note":[${filled(Math.min(bytes, 11e6) / 2, () => '{"text":"a"}')}]`)},"request":{"method":"POST","url":"Observation"}}`,
      ).join(),
    ),
  ),
  ofBundle('a transaction of entries with faults', '/fhir/R4', (bytes) =>
    bundle(
      'transaction',
      Array.from(
        { length: ENTRIES },
        () =>
          `{"resource":{"resourceType":"Patient","name":[${filled(bytes / ENTRIES - 100, () => '{"x":1}')}]},"request":{"method":"POST","url":"Patient"}}`,
      ).join(),
    ),
  ),
  ofBundle('a batch of entries that are nothing', '/fhir/R4', (bytes) =>
    bundle('batch', Array.from({ length: ENTRIES }, () => `{"x":"${padded(bytes / ENTRIES - 10)}"}`).join()),
  ),
  ofBundle('a transaction of links', '/fhir/R4', (bytes) =>
    bundle(
      'transaction',
      Array.from(
        { length: ENTRIES },
        (_, n) =>
          `{"fullUrl":"urn:uuid:00000000-0000-4000-8000-${String(n).padStart(12, '0')}","resource":${observation(`"derivedFrom":[${filled(bytes / ENTRIES - 400, (m) => `{"reference":"urn:uuid:00000000-0000-4000-8000-${String((n + m) % ENTRIES).padStart(12, '0')}"}`)}]`)},"request":{"method":"POST","url":"Observation"}}`,
      ).join(),
    ),
  ),
  validate('$validate of a Bundle of resources', 'Bundle', (bytes) =>
    bundle(
      'collection',
      filled(bytes, (n) => `{"fullUrl":"urn:uuid:${n}","resource":{"resourceType":"Patient","active":true}}`),
    ),
  ),
  validate(
    '$validate of a document by the IPS profiles',
    'Bundle',
    (bytes) =>
      bundle(
        'document',
        filled(
          Math.min(bytes, 850_000),
          (n) =>
            `{"fullUrl":"urn:uuid:${n}","resource":{"resourceType":"Observation","status":"final","code":${BLOOD},"subject":{"reference":"urn:uuid:${n + 1}"}}}`,
        ),
      ),
    `?profile=${IPS}Bundle-uv-ips`,
  ),
  validate('$validate of a resource that claims one profile very often', 'Observation', (bytes) =>
    observation(
      `"meta":{"profile":[${filled(Math.min(bytes, 4_000_000) / 2, () => `"${IPS}Observation-results-laboratory-pathology-uv-ips"`)}]},"component":[${filled(Math.min(bytes, 600_000) / 2, () => '{"code":{"text":"a"},"valueQuantity":{"value":1}}')}]`,
    ),
  ),
  validate('$validate of a resource that claims profiles that are not known', 'Patient', (bytes) =>
    patient(`"meta":{"profile":[${filled(Math.min(bytes, 900_000), (n) => `"urn:p${n}"`)}]}`),
  ),
  validate(
    '$validate of a Questionnaire of many items',
    'Questionnaire',
    (bytes) =>
      `{"resourceType":"Questionnaire","status":"draft","item":[${filled(bytes, (n) => `{"linkId":"${n}","type":"string"}`)}]}`,
  ),
  validate(
    '$validate of a StructureDefinition of many elements',
    'StructureDefinition',
    (bytes) =>
      `{"resourceType":"StructureDefinition","url":"urn:a","name":"A","status":"draft","kind":"resource","abstract":false,"type":"Patient","snapshot":{"element":[${filled(bytes, (n) => `{"id":"a${n}","path":"Patient.a${n}"}`)}]}}`,
  ),
  validate(
    '$validate of a ValueSet of many codes',
    'ValueSet',
    (bytes) =>
      `{"resourceType":"ValueSet","status":"draft","compose":{"include":[{"system":"urn:a","concept":[${filled(bytes, (n) => `{"code":"${n}"}`)}]}]}}`,
  ),
  validate(
    '$validate of a Timing with every invariant',
    'ServiceRequest',
    (bytes) =>
      `{"resourceType":"ServiceRequest","status":"active","intent":"order","subject":{"display":"a"},"occurrenceTiming":{"event":[${filled(bytes, () => '"2020-01-01T00:00:00Z"')}]}}`,
  ),
  post(
    '$expand of a ValueSet that is sent along',
    '/fhir/R4/ValueSet/$expand',
    FHIR,
    (bytes) =>
      `{"resourceType":"ValueSet","status":"draft","compose":{"include":[{"system":"urn:a","concept":[${filled(Math.min(bytes, 9e5), (n) => `{"code":"${n}"}`)}]}]}}`,
  ),
  post('an import of a message of many results', LABS, HL7, (bytes) =>
    segments(filled(bytes, (n) => `OBX|${n}|NM|2345-7^Glucose^LN||5.6|mmol/L|3.9-5.5|H|||F`, '\r')),
  ),
  post('an import of a message of many reports', LABS, HL7, (bytes) =>
    segments(filled(bytes, (n) => `OBR|${n}||F${n}|24323-8^Panel^LN|||20260331080000+0200`, '\r')),
  ),
  post('an import of one long segment', LABS, HL7, (bytes) =>
    segments(`OBX|1|TX|2345-7^Glucose^LN||${filled(bytes, () => 'a', '~')}|||||F`),
  ),
  post('an import of one segment of many fields', LABS, HL7, (bytes) =>
    segments(`OBX|1|TX|2345-7^Glucose^LN||a|||||F${'|'.repeat(bytes)}`),
  ),
  post('an import of escapes', LABS, HL7, (bytes) =>
    segments(`OBX|1|TX|2345-7^Glucose^LN||${filled(bytes, () => '\\F\\', '')}|||||F`),
  ),
  post('an import of notes', LABS, HL7, (bytes) =>
    segments(`OBX|1|NM|2345-7^Glucose^LN||1|||||F\r${filled(bytes, (n) => `NTE|${n}||a`, '\r')}`),
  ),
  post('an import of a message in many lines', LABS, HL7, (bytes) =>
    segments(filled(bytes, () => 'ZZZ', '\r')),
  ),
  post('an import of many messages', LABS, HL7, (bytes) =>
    filled(bytes, (n) => segments(`OBX|1|NM|2345-7^Glucose^LN||${n}|mg/dL||||F`), '\r'),
  ),
  post(
    'a table of 5,000 long rows',
    LABS,
    'text/csv',
    (bytes) =>
      `code,value,unit,effective_at,note\n${Array.from({ length: ENTRIES }, (_, n) => `2345-7,${n},mg/dL,2026-01-01,${padded(bytes / ENTRIES - 40)}`).join('\n')}`,
  ),
  post(
    'a table of too many rows',
    LABS,
    'text/csv',
    (bytes) => `code,value\n${filled(bytes, () => 'a,1', '\n')}`,
  ),
  post('a table of empty lines', LABS, 'text/csv', (bytes) => `code,value\n${'\n'.repeat(bytes)}`),
  post('a table with a long heading', LABS, 'text/csv', (bytes) => `${filled(bytes, () => 'a')}\n`),
  post(
    'a table of rows that are too long',
    LABS,
    'text/csv',
    (bytes) => `code,value\n${filled(bytes, () => 'a')}\n`,
  ),
  post('a table of one quoted cell', LABS, 'text/csv', (bytes) => `code,value\n"${'""'.repeat(bytes / 2)}`),
  post(
    '5,000 items of laboratory results',
    LABS,
    'application/json',
    (bytes) =>
      `{"date":"2026-01-01","items":[${Array.from({ length: ENTRIES }, (_, n) => `{"code":"2345-7","value":${n}.50,"unit":"mg/dL","note":"${padded(bytes / ENTRIES - 80)}"}`)}]}`,
  ),
  post(
    '5,000 items with everything said of each',
    LABS,
    'application/json',
    (bytes) =>
      `{"items":[${Array.from(
        { length: Math.min(ENTRIES, bytes / 400) },
        (_, n) =>
          `{"code":"2345-7","system":"http://loinc.org","display":"Glucose","category":"laboratory","effective_at":"2026-01-01T10:00:00Z","value":${n}.50,"unit":"mg/dL","reference_range":{"low":70,"high":99.0},"note":"Fasting"}`,
      )}]}`,
  ),
  post(
    'items that are nothing',
    LABS,
    'application/json',
    (bytes) => `{"date":"2026-01-01","items":[${filled(Math.min(bytes, 295_000), () => '{}')}]}`,
  ),
  post('a message of fields', LABS, HL7, (bytes) =>
    segments(filled(Math.min(bytes, 990_000), () => `ZZZ${'|'.repeat(490)}`, '\r')),
  ),
  post(
    '5,000 items with faults',
    LABS,
    'application/json',
    (bytes) =>
      `{"date":"2026-01-01","items":[${Array.from({ length: ENTRIES }, () => `{${filled(bytes / ENTRIES - 3, (m) => `"k${m}":1`)}}`)}]}`,
  ),
  post(
    'a v1 Patient of unknown members',
    '/v1/patients',
    'application/json',
    (bytes) => `{"family":"A",${filled(bytes, (n) => `"k${n}":1`)}}`,
  ),
  post(
    'a v1 Patient of control characters',
    '/v1/patients',
    'application/json',
    (bytes) => `{"family":"A","given":[${filled(bytes, () => '"\\u0001"')}]}`,
  ),
  post(
    'a v1 Observation of decimals',
    '/v1/patients/{patient}/observations',
    'application/json',
    (bytes) => `{"code":"2345-7","x":[${filled(bytes, () => '1.50')}]}`,
  ),
  post(
    'a question for context',
    '/v1/context',
    'application/json',
    (bytes) => `{"patient":"{patient}","question":"${padded(bytes)}"}`,
  ),
];

const read = (name: string, path: string): LargeRequest => ({
  name,
  method: 'GET',
  path,
  type: FHIR,
  body: () => '',
  status: 200,
});

/**
 * Reads of large records. `{record}` is the Patient of a record with many Observations. `{long}` is the Patient of a
 * record whose Observations have long notes; `{versions}` is its last Observation, which has many versions.
 */
export const LARGE_READS: readonly LargeRequest[] = [
  read('$summary of 20,000 Observations', '/fhir/R4/Patient/{record}/$summary'),
  {
    ...post(
      'a context of 20,000 Observations',
      '/v1/context',
      'application/json',
      () =>
        '{"patient":"{record}","budget_tokens":100000,"window_days":36500,"question":"How has glucose developed?","needs":["labs:2345-7","timeline:36500d","labs:trend:2345-7"]}',
    ),
    status: 200,
  },
  read('$everything of 20,000 Observations', '/fhir/R4/Patient/{record}/$everything'),
  read(
    'a search of 200 of 20,000 Observations',
    '/fhir/R4/Observation?patient={record}&_count=200&_sort=-date',
  ),
  read('a timeline of 20,000 Observations', '/v1/patients/{record}/timeline?limit=200'),
  read('$summary of 40 MB', '/fhir/R4/Patient/{long}/$summary'),
  read('$everything of 40 MB', '/fhir/R4/Patient/{long}/$everything'),
  read('a history of 100 versions of 400 kB', '/fhir/R4/Observation/{versions}/_history?_count=200'),
  read('a search of resources of 400 kB', '/fhir/R4/Observation?patient={long}&_count=200'),
];

/**
 * Returns a transaction with a Patient's Observations on different days.
 * @param from the number of the first Observation
 */
export function observations(patient: string, count: number, from: number): string {
  const entries = Array.from({ length: count }, (_, n) => {
    const day = new Date(Date.UTC(2000, 0, 1 + ((from + n) % 9_000))).toISOString().slice(0, 10);
    return `{"resource":{"resourceType":"Observation","status":"final","category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"laboratory"}]}],"code":${BLOOD},"subject":{"reference":"Patient/${patient}"},"effectiveDateTime":"${day}","valueQuantity":{"value":${n % 300}.5,"unit":"mg/dL","system":"http://unitsofmeasure.org","code":"mg/dL"}},"request":{"method":"POST","url":"Observation"}}`;
  });
  return bundle('transaction', entries.join());
}

/** Returns an Observation with a long note. */
export function longObservation(patient: string, bytes: number, of = ''): string {
  return `{"resourceType":"Observation",${of}"status":"final","code":${BLOOD},"subject":{"reference":"Patient/${patient}"},"note":[{"text":"${padded(bytes)}"}]}`;
}
