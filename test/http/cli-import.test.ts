/** `annal import` against the real service. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { printReport, type ReportData } from '#src/cli/import/report.ts';
import { runImport } from '#src/cli/import/run.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { itAtFullSize, scaled, someOf } from '#test/support/scale.ts';
import { annal, type Service, startService } from '#test/support/service.ts';
import { syntheaFolder } from '#test/support/synthea.ts';
import { tell } from '#test/support/tell.ts';

const LAUNCHER = fileURLToPath(new URL('../../bin/annal.js', import.meta.url));

const urn = (n: number): string => `urn:uuid:00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

const post = (n: number, resource: JsonObject): JsonObject => ({
  fullUrl: urn(n),
  resource,
  request: { method: 'POST', url: resource.resourceType as string },
});

const bundle = (...entry: JsonObject[]): JsonObject => ({
  resourceType: 'Bundle',
  type: 'transaction',
  entry,
});

const patient = (family: string): JsonObject => ({ resourceType: 'Patient', name: [{ family }] });

const observation = (subject: string, more: JsonObject = {}): JsonObject => ({
  resourceType: 'Observation',
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '8302-2' }] },
  subject: { reference: subject },
  ...more,
});

const organization = (value: string, name: string): JsonObject => ({
  resourceType: 'Organization',
  identifier: [{ system: 'https://org.example', value }],
  name,
});

const ndjson = (...resources: (JsonObject | string)[]): string =>
  resources.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n');

describe('annal import', () => {
  let service: Service;
  let folder: string;
  let number = 0;

  before(async () => {
    service = await startService();
  });

  after(() => service.stop());

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'annal-import-'));
    number += 1;
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  const write = async (files: Readonly<Record<string, JsonObject | string>>): Promise<void> => {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(join(folder, name, '..'), { recursive: true });
      await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
    }
  };

  const load = async (
    args: readonly string[] = [folder],
    from: Service = service,
  ): Promise<{ code: number; report: ReportData }> => {
    const { code, json, output } = await annal(from, ['import', ...args]);
    if (!isObject(json)) throw new Error(output);
    return { code, report: json as unknown as ReportData };
  };

  /** Returns the resources of a type that match search criteria. */
  const search = async (query: string, from: Service = service): Promise<JsonObject[]> => {
    const answer = await from.fhir(`/${query}`);
    expect(answer.status, String(answer)).to.equal(200);
    const { entry } = answer.json;
    return (Array.isArray(entry) ? entry : []).flatMap((one: Json) =>
      isObject(one) && isObject(one.resource) ? [one.resource] : [],
    );
  };

  const total = async (type: string, from: Service = service): Promise<number> =>
    Number((await from.fhir(`/${type}?_count=1`)).json.total);

  const onlyPatient = async (marker: string): Promise<string> => {
    const [found, ...others] = await search(`Patient?identifier=urn:test|${marker}`);
    expect(others).to.deep.equal([]);
    return `Patient/${String(found?.id)}`;
  };

  const marked = (marker: string): JsonObject => ({
    ...patient(marker),
    identifier: [{ system: 'urn:test', value: marker }],
  });

  it('loads resources without ids once, from files of one name and after lines were added before them', async () => {
    const marker = `unnamed-${number}`;
    const unnamed = (text: string): JsonObject => observation(`Patient/${marker}`, { note: [{ text }] });
    await write({
      'a/Patient.ndjson': ndjson({ ...marked(marker), id: marker }),
      'a/Observation.ndjson': ndjson(unnamed('one'), unnamed('two'), unnamed('two')),
      'b/Observation.ndjson': ndjson(unnamed('three')),
    });
    const files = ['a/Patient.ndjson', 'a/Observation.ndjson', 'b/Observation.ndjson'];
    const args = files.map((file) => join(folder, file));
    const texts = async (): Promise<unknown[]> =>
      (await search(`Observation?patient=${await onlyPatient(marker)}&_sort=_id`)).map(({ note }) =>
        Array.isArray(note) && isObject(note[0]) ? note[0].text : undefined,
      );
    const first = await load(args);
    expect(await texts(), JSON.stringify(first.report)).to.have.members(['one', 'two', 'two', 'three']);
    await write({
      'a/Observation.ndjson': ndjson(unnamed('zero'), unnamed('one'), unnamed('two'), unnamed('two')),
    });
    const second = await load(args);
    expect(await texts(), JSON.stringify(second.report)).to.have.members([
      'zero',
      'one',
      'two',
      'two',
      'three',
    ]);
  });

  it('keeps as an identifier what refers to a type that is not kept, and counts it', async () => {
    const marker = `dropped-${number}`;
    await write({
      'a.json': bundle(
        post(1, marked(marker)),
        post(2, {
          resourceType: 'ServiceRequest',
          status: 'active',
          intent: 'order',
          code: { text: 'Lipid panel' },
          subject: { reference: urn(1) },
        }),
        post(3, {
          resourceType: 'DiagnosticReport',
          status: 'final',
          code: { text: 'Lipids' },
          subject: { reference: urn(1) },
          basedOn: [{ reference: urn(2) }],
        }),
      ),
    });
    const { code, report } = await load();
    expect(code).to.equal(0);
    expect(report.types.ServiceRequest).to.include({ found: 1, skipped: 1, loaded: 0 });
    expect(report.references).to.deep.equal({ dropped: 1, missing: 0 });
    const [found] = await search(`DiagnosticReport?patient=${await onlyPatient(marker)}`);
    expect(found?.basedOn).to.deep.equal([
      {
        type: 'ServiceRequest',
        identifier: { system: 'urn:ietf:rfc:3986', value: urn(2) },
        display: 'Lipid panel',
      },
    ]);
  });

  it('matches directory entries by identifier across files; the first wins, with a warning', async () => {
    const value = `shared-${number}`;
    const file = (name: string, marker: string) =>
      bundle(
        post(1, marked(marker)),
        post(2, organization(value, name)),
        post(3, {
          resourceType: 'Encounter',
          status: 'finished',
          class: { code: 'AMB' },
          subject: { reference: urn(1) },
          serviceProvider: { reference: urn(2) },
        }),
      );
    await write({
      'a.json': file('Clinic', `${value}-a`),
      'b.json': file('Clinic', `${value}-b`),
      'c.json': file('Clinic, renamed', `${value}-c`),
    });
    const { code, report } = await load([folder, '--concurrency', '1']);
    expect(code).to.equal(0);
    expect(report.types.Organization).to.include({ found: 3, loaded: 1, matched: 2 });
    expect(report.warnings).to.have.length(1);
    expect(report.warnings[0]).to.contain('c.json, entry 2').and.to.contain('the first one is used');
    const [kept, ...others] = await search(`Organization?identifier=https://org.example|${value}`);
    expect(others).to.deep.equal([]);
    expect(kept?.name).to.equal('Clinic');
    for (const name of ['a', 'b', 'c']) {
      const [visit] = await search(`Encounter?patient=${await onlyPatient(`${value}-${name}`)}`);
      expect(visit?.serviceProvider).to.deep.equal({ reference: `Organization/${String(kept?.id)}` });
    }
  });

  itAtFullSize(
    'warns when what the server had already says something else, and loads entries without identifiers once',
    async () => {
      const value = `before-${number}`;
      await service.fhir('/Organization', {
        method: 'POST',
        body: JSON.stringify(organization(value, 'Old name')),
      });
      const before = await total('Practitioner');
      const anonymous = { resourceType: 'Practitioner', name: [{ family: `Nobody ${number}` }] };
      await write({
        'a.json': bundle(post(1, patient('A')), post(2, organization(value, 'New name')), post(3, anonymous)),
        'b.json': bundle(post(1, patient('B')), post(3, anonymous)),
      });
      const { report } = await load();
      expect(report.types.Organization).to.include({ loaded: 0, matched: 1 });
      expect(report.types.Practitioner).to.include({ loaded: 1, matched: 1 });
      expect(report.warnings).to.have.length(1);
      expect(await total('Practitioner')).to.equal(before + 1);
    },
  );

  itAtFullSize(
    'recognises directory entries of earlier imports and other source systems by identifier or content',
    async () => {
      const npi = `npi-${number}`;
      const role = (practitioner: JsonObject, clinic: JsonObject): JsonObject => ({
        resourceType: 'PractitionerRole',
        active: true,
        practitioner,
        organization: clinic,
        code: [{ text: `General practice ${number}` }],
      });
      const practitioner = {
        resourceType: 'Practitioner',
        identifier: [{ system: 'http://hl7.org/fhir/sid/us-npi', value: npi }],
        name: [{ family: 'Gleason' }],
      };
      // Files like Synthea's hospital and practitioner files; the ids are different in each export.
      const files = (n: number) => ({
        'hospital.json': bundle(
          post(n + 1, { resourceType: 'Organization', name: `Clinic ${number}` }),
          post(n + 2, {
            resourceType: 'Location',
            name: `Ward ${number}`,
            managingOrganization: { reference: urn(n + 1) },
            partOf: { reference: urn(n + 2) },
          }),
          post(n + 3, practitioner),
          post(n + 4, role({ reference: urn(n + 3) }, { reference: urn(n + 1) })),
          post(n + 5, { resourceType: 'Medication', code: { text: `Aspirin ${number}` } }),
          post(n + 6, { resourceType: 'Device', deviceName: [{ name: `Scales ${number}`, type: 'other' }] }),
        ),
        'roles.json': bundle(
          post(
            n + 7,
            role(
              { reference: `Practitioner?identifier=http://hl7.org/fhir/sid/us-npi|${npi}` },
              { identifier: { value: 'x' }, display: `Clinic ${number}` },
            ),
          ),
        ),
      });
      const TYPES = ['Organization', 'Location', 'Practitioner', 'PractitionerRole', 'Medication', 'Device'];
      const counts = () => Promise.all(TYPES.map((type) => total(type)));
      await write(files(100));
      const first = await load([folder, '--source-system', 'one', '--concurrency', '1']);
      expect(first.report.faults).to.deep.equal([]);
      expect(first.report.types.PractitionerRole).to.include({ loaded: 2 });
      const before = await counts();
      await write(files(200));
      const second = await load([folder, '--source-system', 'two', '--concurrency', '1']);
      expect(second.report).to.deep.include({ complete: true, warnings: [] });
      expect(await counts()).to.deep.equal(before);
      for (const type of TYPES) expect(second.report.types[type], type).to.include({ loaded: 0 });
      // The same sources again, as NDJSON.
      await rm(folder, { recursive: true });
      await write({
        'Organization.ndjson': ndjson({
          resourceType: 'Organization',
          id: 'o',
          meta: { lastUpdated: '2020-01-01T00:00:00Z' },
          name: `Clinic ${number}`,
        }),
        'Patient.ndjson': ndjson({
          ...marked(`again-${number}-nd`),
          id: 'p',
          managingOrganization: { reference: 'Organization/o' },
        }),
      });
      expect((await load()).report.types.Organization).to.include({ loaded: 0, matched: 1 });
      expect((await load([folder, '--again'])).report.types.Organization).to.include({
        loaded: 0,
        matched: 1,
      });
      expect(await counts()).to.deep.equal(before);
      const [clinic] = await search(`Organization?name:exact=Clinic ${number}`);
      const [patient] = await search(`Patient?identifier=urn:test|again-${number}-nd`);
      expect(patient?.managingOrganization).to.deep.equal({
        reference: `Organization/${String(clinic?.id)}`,
      });
    },
  );

  itAtFullSize('recognises a directory entry by any of its identifiers', async () => {
    const [first, second] = [`first-${number}`, `second-${number}`];
    const { json } = await service.fhir('/Organization', {
      method: 'POST',
      body: JSON.stringify(organization(second, 'Clinic')),
    });
    const identifier = [first, second].map((value) => ({ system: 'https://org.example', value }));
    await write({ 'a.json': bundle(post(1, { ...organization(first, 'Clinic'), identifier })) });
    const { report } = await load();
    expect(report.types.Organization).to.include({ loaded: 0, matched: 1 });
    expect(report.warnings).to.have.length(1);
    const found = await search(
      `Organization?identifier=https://org.example|${first},https://org.example|${second}`,
    );
    expect(found.map(({ id }) => id)).to.deep.equal([json.id]);
  });

  it('loads NDJSON whose references go across files, one transaction a patient, decimals as they were written', async () => {
    const marker = `nd-${number}`;
    await write({
      'Observation.ndjson': ndjson(
        `{"resourceType":"Observation","id":"o1","status":"final","code":{"text":"x"},"subject":{"reference":"Patient/p1"},"encounter":{"reference":"Encounter/e1"},"valueQuantity":{"value":1.50}}`,
        { ...observation('Patient/p2'), id: 'o2' },
        { ...observation('Patient/p1', { derivedFrom: [{ reference: 'Observation/o1' }] }), id: 'o3' },
      ),
      'sub/Encounter.ndjson': ndjson({
        resourceType: 'Encounter',
        id: 'e1',
        status: 'finished',
        class: { code: 'AMB' },
        subject: { reference: 'Patient/p1' },
        serviceProvider: { reference: 'Organization/org' },
        basedOn: [{ reference: 'ServiceRequest/1' }],
      }),
      'Patient.ndjson': ndjson(
        { ...marked(`${marker}-1`), id: 'p1', managingOrganization: { reference: 'Organization/org' } },
        {
          ...marked(`${marker}-2`),
          id: 'p2',
          link: [{ other: { reference: 'Patient/p1' }, type: 'seealso' }],
        },
      ),
      'Organization.ndjson': ndjson({ ...organization(marker, 'Clinic'), id: 'org' }),
      'Provenance.ndjson': ndjson({
        resourceType: 'Provenance',
        id: 'v1',
        target: [{ reference: 'Observation/o1' }, { reference: 'Claim/1' }],
        recorded: '2020-01-01T00:00:00Z',
        agent: [{ who: { reference: 'Organization/org' } }],
      }),
      'ServiceRequest.ndjson': ndjson({ resourceType: 'ServiceRequest', id: '1' }),
    });
    const { code, report } = await load();
    expect(report.faults).to.deep.equal([]);
    expect(code).to.equal(0);
    // Four transactions: the directory, two patients, and the Provenance, whose record can only be derived from its target.
    expect(report.transactions).to.equal(4);
    expect(report.references).to.deep.equal({ dropped: 2, missing: 0 });
    const one = await onlyPatient(`${marker}-1`);
    const found = await search(`Observation?patient=${one}`);
    expect(found).to.have.length(2);
    const weighed = found.find((each) => each.valueQuantity !== undefined);
    const [visit] = await search(`Encounter?patient=${one}`);
    expect(weighed?.encounter).to.deep.equal({ reference: `Encounter/${String(visit?.id)}` });
    expect((await service.fhir(`/Observation/${String(weighed?.id)}`)).text).to.contain('"value":1.50}');
    const derived = found.find((each) => each.derivedFrom !== undefined);
    expect(derived?.derivedFrom).to.deep.equal([{ reference: `Observation/${String(weighed?.id)}` }]);
    const [other] = await search(`Patient?identifier=urn:test|${marker}-2`);
    expect(other?.link).to.deep.equal([{ other: { reference: one }, type: 'seealso' }]);
    const provenances = await search(`Provenance?target=Observation/${String(weighed?.id)}`);
    expect(provenances.filter(({ recorded }) => String(recorded).startsWith('2020'))).to.have.length(1);

    // A second run has nothing left to do. A file added later is loaded into the existing records.
    expect((await load()).report).to.deep.include({ transactions: 0, complete: true });
    await write({
      'Later.ndjson': ndjson({
        ...observation('Patient/p1', { encounter: { reference: 'Encounter/e1' } }),
        id: 'o9',
      }),
    });
    const later = await load();
    expect(later.report.types.Observation).to.include({ found: 4, already: 3, loaded: 1 });
    const all = await search(`Observation?patient=${one}`);
    expect(all.filter(({ encounter }) => encounter !== undefined)).to.have.length(2);
  });

  it('loads bundles of PUT entries that refer across files, as new resources', async () => {
    const marker = `put-${number}`;
    const put = (id: string, resource: JsonObject): JsonObject => ({
      fullUrl: `https://old.example/fhir/${id}`,
      resource: { ...resource, id: id.split('/')[1] ?? '' },
      request: { method: 'PUT', url: id },
    });
    await write({
      '1.json': bundle(put('Observation/1', observation('https://old.example/fhir/Patient/1'))),
      '2.json': bundle(put('Observation/2', observation('Patient/1'))),
      '3.json': bundle(
        put('Patient/1', marked(marker)),
        put('Observation/3', observation('https://old.example/fhir/Patient/1')),
      ),
    });
    const { report } = await load();
    expect(report.faults).to.deep.equal([]);
    expect(report.transactions).to.equal(1);
    expect(await search(`Observation?patient=${await onlyPatient(marker)}`)).to.have.length(3);
  });

  itAtFullSize('finds by its old id a patient that came in a bundle', async () => {
    const marker = `old-${number}`;
    await write({
      'a.json': bundle(post(1, { ...marked(marker), id: 'old-id' })),
      'Observation.ndjson': ndjson({ ...observation('Patient/old-id'), id: 'o' }),
    });
    const { report } = await load();
    expect(report.faults).to.deep.equal([]);
    expect(await search(`Observation?patient=${await onlyPatient(marker)}`)).to.have.length(1);
  });

  itAtFullSize('gives each patient of a file a transaction of its own', async () => {
    const marker = `many-${number}`;
    await write({
      'a.json': bundle(
        post(1, marked(`${marker}-1`)),
        post(2, { ...marked(`${marker}-2`), link: [{ other: { reference: urn(1) }, type: 'seealso' }] }),
        post(3, observation(urn(1))),
        post(4, observation(urn(2))),
      ),
    });
    const { report } = await load();
    expect(report.faults).to.deep.equal([]);
    expect(report.transactions).to.equal(2);
    const [second] = await search(`Patient?identifier=urn:test|${marker}-2`);
    expect(second?.link).to.deep.equal([
      { other: { reference: await onlyPatient(`${marker}-1`) }, type: 'seealso' },
    ]);
  });

  it('cuts a record that is over the limits, in the order of its references, and goes on after it was stopped', async () => {
    const marker = `large-${number}`;
    const entries = [post(1, marked(marker))];
    for (let i = 0; i < 30; i += 1) {
      const derivedFrom = i === 0 ? [] : [{ reference: urn(100 + i - 1) }];
      entries.unshift(post(100 + i, observation(urn(1), i === 0 ? {} : { derivedFrom })));
    }
    await write({ 'a.json': bundle(...entries) });
    const interrupted = new AbortController();
    const options = {
      url: service.url,
      key: service.key,
      dataDir: folder,
      json: true,
      limits: { entries: 2, bytes: 1_000_000 },
    };
    const first = runImport([folder], { ...options, signal: interrupted.signal });
    while ((await answered(join(folder, 'imports'))) < 2) await pause(1);
    interrupted.abort();
    const stopped = await first;
    expect(stopped).to.include({ complete: false });
    expect(stopped.stopped).to.contain('Interrupted');
    const report = await runImport([folder], options);
    expect(report.faults).to.deep.equal([]);
    expect(stopped.transactions + report.transactions).to.equal(16);
    expect(Object.keys(report.split)).to.deep.equal(['a.json']);
    expect(report.references).to.deep.equal({ dropped: 0, missing: 0 });
    const found = await search(`Observation?patient=${await onlyPatient(marker)}&_count=200`);
    expect(found).to.have.length(30);
    const ids = new Set(found.map(({ id }) => `Observation/${String(id)}`));
    const links = found.flatMap(({ derivedFrom }) => (Array.isArray(derivedFrom) ? derivedFrom : []));
    expect(links).to.have.length(29);
    for (const link of links) expect(ids.has(isObject(link) ? String(link.reference) : '')).to.equal(true);
  });

  itAtFullSize('halves a transaction that the service finds too large', async () => {
    const small = await startService({ env: { MAX_BUNDLE_ENTRIES: '10' } });
    try {
      await write({
        'a.json': bundle(
          post(1, patient('A')),
          ...Array.from({ length: 30 }, (_, i) => post(2 + i, observation(urn(1)))),
        ),
      });
      const { code, report } = await load([folder], small);
      expect(report.faults).to.deep.equal([]);
      expect(code).to.equal(0);
      expect(report.split).to.deep.equal({ 'a.json': 4 });
      expect(await total('Observation', small)).to.equal(30);
      expect(await total('Patient', small)).to.equal(1);
      expect((await load([folder], small)).report.transactions).to.equal(0);
    } finally {
      await small.stop();
    }
  });

  it('names the faults of one file at their places and loads the others', async () => {
    const marker = `faults-${number}`;
    await write({
      'broken.json': '{"resourceType": "Bundle",\n  "type": }',
      'lines.ndjson': ndjson({ ...marked(marker), id: 'p' }, '{"resourceType":"Observation",,}', {
        ...observation('Patient/none'),
        id: 'x',
      }),
      'invalid.json': bundle(
        post(1, patient('A')),
        post(2, { resourceType: 'Observation', subject: { reference: urn(1) } }),
      ),
      'orphan.json': bundle(
        post(1, patient('A')),
        post(2, { resourceType: 'Condition', code: { text: 'x' } }),
      ),
      'good.json': bundle(post(1, marked(`${marker}-good`))),
      'notes.txt': 'not read',
      'history.json': { resourceType: 'Bundle', type: 'history', entry: [] },
    });
    const { code, report } = await load();
    expect(code).to.equal(1);
    const faults = report.faults.map(({ place, diagnostics }) => `${place}: ${diagnostics}`).sort();
    expect(faults.find((text) => text.startsWith('broken.json'))).to.contain('line 2, column 11');
    expect(faults.find((text) => text.startsWith('lines.ndjson: '))).to.contain('line 2');
    expect(faults.find((text) => text.startsWith('lines.ndjson, line 3'))).to.contain('Patient/none');
    expect(faults.filter((text) => text.startsWith('invalid.json, entry 2 (Observation)'))).not.to.deep.equal(
      [],
    );
    expect(faults.find((text) => text.startsWith('orphan.json, entry 2'))).to.contain('Condition.subject');
    expect(faults.find((text) => text.startsWith('history.json'))).to.contain('history');
    await onlyPatient(marker);
    await onlyPatient(`${marker}-good`);
    expect(await search('Patient?identifier=urn:test|none')).to.deep.equal([]);
    // Once the file is fixed, the same command loads what was missing and loads nothing twice.
    await write({
      'invalid.json': bundle(post(1, marked(`${marker}-mended`)), post(2, observation(urn(1)))),
    });
    await load();
    await onlyPatient(`${marker}-mended`);
    await onlyPatient(`${marker}-good`);
  });

  itAtFullSize('counts implausible values by kind, with examples, and loads them', async () => {
    const marker = `implausible-${number}`;
    const tall = {
      valueQuantity: { value: 1.8, unit: 'cm', system: 'http://unitsofmeasure.org', code: 'cm' },
      effectiveDateTime: '2962-01-01',
    };
    await write({
      'a.json': bundle(
        post(1, { ...marked(marker), birthDate: '2962-01-01' }),
        post(2, observation(urn(1), tall)),
        ...[3, 4, 5, 6].map((n) => post(n, observation(urn(1), { ...tall, effectiveDateTime: `200${n}` }))),
        post(7, { resourceType: 'Practitioner', name: [{ family: marker }], birthDate: '2962-01-01' }),
      ),
    });
    const { code, report } = await load();
    expect(code).to.equal(0);
    expect(report.implausible.future_date?.count).to.equal(3);
    expect(report.implausible.future_date?.examples).to.include(
      'a.json, entry 2, Observation.effectiveDateTime: 2962-01-01 is in the future',
    );
    expect(report.implausible.impossible_value?.count).to.equal(5);
    expect(report.implausible.impossible_value?.examples[0]).to.match(
      /^a\.json, entry \d, Observation\.valueQuantity: 1\.8 cm is outside what is possible in a living person \(15 to 280 cm\)$/,
    );
    const text = printReport(report);
    expect(text).to.contain('Implausible values (8), loaded as they are:\n');
    expect(text).to.contain('  5 × a value outside what is possible, for example\n');
    expect(text.match(/1\.8 cm/g)).to.have.length(3);
    // What an earlier run loaded isn't counted again.
    expect((await load()).report.implausible).to.deep.equal({});
    await onlyPatient(marker);
  });

  itAtFullSize(
    'does not load a record with a hole: one that needs a refused directory entry waits',
    async () => {
      const marker = `hole-${number}`;
      const file = (gender: string) =>
        bundle(
          post(1, marked(marker)),
          post(2, { resourceType: 'Practitioner', identifier: [{ system: 'urn:p', value: marker }], gender }),
          post(3, organization(marker, 'Fine')),
          post(4, observation(urn(1), { performer: [{ reference: urn(2) }] })),
        );
      await write({ 'a.json': file('unheard-of') });
      const first = await load();
      expect(first.code).to.equal(1);
      expect(first.report.types.Patient).to.include({ loaded: 0, failed: 1 });
      expect(first.report.types.Organization).to.include({ loaded: 1 });
      expect(await search(`Patient?identifier=urn:test|${marker}`)).to.deep.equal([]);
      await write({ 'a.json': file('female') });
      expect((await load()).code).to.equal(0);
      const [seen] = await search(`Observation?patient=${await onlyPatient(marker)}`);
      expect(seen?.performer).to.have.length(1);
    },
  );

  itAtFullSize(
    'takes of two Provenances with one id the later one, and counts what stands twice',
    async () => {
      const marker = `twice-${number}`;
      const said = (text: string, lastUpdated: string): JsonObject => ({
        resourceType: 'Provenance',
        id: 'said',
        meta: { lastUpdated },
        target: [{ reference: 'Patient/twice' }],
        recorded: '2026-01-01T00:00:00Z',
        reason: [{ text }],
        agent: [{ who: { display: 'A. Aune' } }],
      });
      const put = (resource: JsonObject): JsonObject => ({
        resource,
        request: { method: 'PUT', url: `${String(resource.resourceType)}/${String(resource.id)}` },
      });
      const who = { ...marked(marker), id: 'twice' };
      const height = { ...observation('Patient/twice'), id: 'twice-height' };
      await write({
        'a.json': bundle(put(who), put(height), put(said('first', '2026-01-01T00:00:00Z'))),
        'b.json': bundle(put(who), put(said('second', '2026-02-01T00:00:00Z'))),
      });
      const { code, report } = await load();
      expect(report.faults).to.deep.equal([]);
      expect(code).to.equal(0);
      expect(report.types.Patient).to.include({ found: 2, loaded: 1, duplicate: 1 });
      expect(report.types.Provenance).to.include({ found: 2, loaded: 1, duplicate: 1, failed: 0 });
      expect(report.warnings).to.have.length(1);
      expect(report.warnings[0])
        .to.contain('Provenance/said occurs at')
        .and.to.contain('b.json, entry 2 is used');
      const loaded = await search(`Provenance?target=${await onlyPatient(marker)}&_count=50`);
      const reasons = loaded.flatMap(({ reason }) => (Array.isArray(reason) ? reason : []));
      expect(reasons).to.deep.equal([{ text: 'second' }]);
      expect(printReport(report)).to.match(/^Type .* duplicates /m);
    },
  );

  it('loads with --skip-invalid what is valid, names the rest in a report file, and tries it again', async () => {
    const marker = `skip-${number}`;
    const file = (gender: string, status: string) => ({
      'record.json': bundle(
        post(1, marked(marker)),
        post(2, { resourceType: 'Practitioner', identifier: [{ system: 'urn:p', value: marker }], gender }),
        post(3, { ...observation(urn(1), { performer: [{ reference: urn(2) }] }), status }),
        post(4, observation(urn(1), { note: [{ text: 'fine' }], hasMember: [{ reference: urn(3) }] })),
        post(5, observation(urn(1), { performer: [{ reference: urn(2) }] })),
        post(6, { resourceType: 'Condition', code: { text: 'whose?' } }),
      ),
      'pool.ndjson': ndjson(
        { ...marked(`${marker}-pool`), id: marker },
        { ...observation(`Patient/${marker}`), id: `${marker}-1` },
        { ...observation(`Patient/${marker}`), id: `${marker}-2`, status },
      ),
    });
    await write(file('unheard-of', 'unheard-of'));
    const path = join(folder, 'report', 'skipped.txt');
    await mkdir(join(folder, 'report'));
    const args = [folder, '--skip-invalid', '--report', path];
    const first = await load(args);
    expect(first.code).to.equal(1);
    expect(first.report.types.Observation).to.include({ found: 5, loaded: 3, failed: 2 });
    expect(first.report.types.Practitioner).to.include({ found: 1, failed: 1 });
    expect(first.report.types.Condition).to.include({ found: 1, failed: 1 });
    const written = JSON.parse(await readFile(path, 'utf8')) as ReportData;
    expect(written.faults).to.deep.equal(first.report.faults);
    expect(written.faults.map(({ place, type }) => `${place} ${type}`)).to.have.members([
      'record.json, entry 2 Practitioner',
      'record.json, entry 3 Observation',
      'record.json, entry 6 Condition',
      'pool.ndjson, line 3 Observation',
    ]);
    expect(written.faults.find(({ place }) => place.startsWith('pool'))).to.include({ id: `${marker}-2` });
    const of = async (who: string) => search(`Observation?patient=${await onlyPatient(who)}&_count=50`);
    expect(await of(marker)).to.have.length(2);
    expect(JSON.stringify(await of(marker))).to.contain('"identifier":{"system":"urn:ietf:rfc:3986"');
    expect(await of(`${marker}-pool`)).to.have.length(1);

    const again = await load(args);
    expect(again.code).to.equal(1);
    expect(again.report.faults).to.have.length(4);
    expect(again.report.types.Observation).to.include({ loaded: 0, already: 3, failed: 2 });
    expect(await of(marker)).to.have.length(2);
    // Fixed NDJSON is added to the existing record.
    await write({ 'pool.ndjson': file('female', 'final')['pool.ndjson'] });
    await load(args);
    expect(await of(`${marker}-pool`)).to.have.length(2);
  });

  itAtFullSize(
    'says without --skip-invalid that there is that option, and names places instead of bundle entries',
    async () => {
      const marker = `hint-${number}`;
      await write({
        'pool.ndjson': ndjson(
          { ...marked(marker), id: marker },
          { ...observation(`Patient/${marker}`), id: `${marker}-1` },
          {
            ...observation(`Patient/${marker}`),
            status: 'unheard-of',
            id: `${marker}-2`,
          },
        ),
      });
      const { report } = await load();
      const printed = printReport(report);
      expect(printed, printed)
        .to.match(/line 3 \(Observation\): /)
        .and.not.to.contain('Bundle.entry');
      expect(printed).to.contain('run the command again with --skip-invalid');
      expect(printReport(report, true)).not.to.contain('--skip-invalid');
      const refused = await load([folder, '--key', 'sk_test_wrong']);
      expect(refused.report.stopped).to.contain('rejected the key').and.not.to.contain('same command');
    },
  );

  itAtFullSize('takes option values as they were typed, and refuses empty ones', async () => {
    const marker = `typed-${number}`;
    await write({ 'a.json': bundle(post(1, marked(marker))) });
    expect((await load([folder, '--source-system', '0042', '--state', join(folder, 's')])).code).to.equal(0);
    const [found] = await search(`Provenance?target=${await onlyPatient(marker)}`);
    const [entity] = Array.isArray(found?.entity) ? found.entity : [];
    expect(isObject(entity) && isObject(entity.what) && entity.what).to.include({ display: '0042' });
  });

  it('reads standard input', async () => {
    const marker = `stdin-${number}`;
    const run = () =>
      new Promise<number>((resolve) => {
        const child = spawn(process.execPath, [LAUNCHER, 'import', '-', '--json'], {
          cwd: folder,
          env: { ...process.env, DATA_DIR: service.dataDir },
          stdio: ['pipe', 'ignore', 'inherit'],
        });
        child.stdin.end(ndjson({ ...marked(marker), id: 'p' }, { ...observation('Patient/p'), id: 'o' }));
        child.once('exit', (code) => resolve(code ?? -1));
      });
    expect(await run()).to.equal(0);
    expect(await search(`Observation?patient=${await onlyPatient(marker)}`)).to.have.length(1);
    expect(await run()).to.equal(0);
    expect(await search(`Observation?patient=${await onlyPatient(marker)}`)).to.have.length(1);
  });

  itAtFullSize('says where data came from: source system and the patient’s old id', async () => {
    const marker = `source-${number}`;
    await write({
      'a.json': bundle(post(1, { ...marked(marker), id: 'old-7' }), post(2, observation(urn(1)))),
    });
    const { code } = await load([folder, '--source-system', '東京病院', '--author-type', 'device']);
    expect(code).to.equal(0);
    const [found] = await search(`Provenance?target=${await onlyPatient(marker)}`);
    expect(JSON.stringify(found?.agent)).to.contain('"device"');
    const [entity] = Array.isArray(found?.entity) ? found.entity : [];
    expect(isObject(entity) && entity.what).to.deep.equal({
      identifier: { system: encodeURIComponent('東京病院'), value: 'old-7' },
      display: '東京病院',
    });
  });

  itAtFullSize('goes on after it was killed, and loads nothing twice', async () => {
    const fresh = await startService();
    try {
      const files: Record<string, JsonObject | string> = {};
      const bundles = scaled(40, 16);
      for (let i = 0; i < bundles; i += 1) {
        files[`b${i}.json`] = bundle(
          post(1, patient(`B${i}`)),
          post(2, organization(`org-${i % 7}`, `Clinic ${i % 7}`)),
          post(3, { resourceType: 'Location', name: `Ward ${i % 5}` }),
          ...Array.from({ length: 20 }, (_, n) => post(10 + n, observation(urn(1)))),
        );
      }
      files['Patient.ndjson'] = ndjson(
        ...Array.from({ length: 40 }, (_, i) => ({ ...patient(`N${i}`), id: `n${i}` })),
      );
      files['Observation.ndjson'] = ndjson(
        ...Array.from({ length: 400 }, (_, i) => ({ ...observation(`Patient/n${i % 40}`), id: `o${i}` })),
      );
      await write(files);
      let kills = 0;
      for (const transactions of someOf([10, 2, 25, 60], 2)) {
        if (await killAfter(transactions, fresh)) kills += 1;
      }
      expect(kills).to.be.at.least(scaled(2, 1));
      const { code, report } = await load([folder], fresh);
      expect(report.faults).to.deep.equal([]);
      expect(code).to.equal(0);
      expect(await total('Patient', fresh)).to.equal(40 + bundles);
      expect(await total('Observation', fresh)).to.equal(400 + 20 * bundles);
      expect(await total('Organization', fresh)).to.equal(7);
      expect(await total('Location', fresh)).to.equal(5);
      for (const { found, loaded, matched, already } of Object.values(report.types)) {
        expect(loaded + matched + already).to.equal(found);
      }
    } finally {
      await fresh.stop();
    }
  });

  /**
   * Starts an import and kills it once its journal lists the given number of answered transactions.
   * @returns whether it was killed
   */
  async function killAfter(transactions: number, from: Service): Promise<boolean> {
    const child = spawn(process.execPath, [LAUNCHER, 'import', folder, '--json'], {
      env: { ...process.env, DATA_DIR: from.dataDir },
      stdio: 'ignore',
    });
    const ended = new Promise<boolean>((resolve) =>
      child.once('exit', (_, signal) => resolve(signal === 'SIGKILL')),
    );
    let running = true;
    void ended.then(() => {
      running = false;
    });
    while (running) {
      if ((await answered(join(from.dataDir, 'imports'))) >= transactions) {
        child.kill('SIGKILL');
        break;
      }
      await pause(2);
    }
    return ended;
  }

  async function answered(imports: string): Promise<number> {
    if (!existsSync(imports)) return 0;
    let count = 0;
    for (const name of await readdir(imports)) {
      if (name.endsWith('.jsonl'))
        count += (await readFile(join(imports, name), 'utf8')).split('"ids":').length - 1;
    }
    return count;
  }

  it('loads the real bundles: per type what the files hold, every reference resolved', async function () {
    const synthea = syntheaFolder();
    if (synthea === undefined) this.skip();
    const fresh = await startService();
    try {
      const { code, report } = await load([synthea], fresh);
      expect(report.faults).to.deep.equal([]);
      expect(code).to.equal(0);
      expect(report.references).to.deep.equal({ dropped: 0, missing: 0 });
      let skipped = 0;
      for (const [type, counts] of Object.entries(report.types)) {
        skipped += counts.skipped;
        expect(counts.loaded + counts.matched + counts.skipped, type).to.equal(counts.found);
        if (counts.loaded > 0) expect(await total(type, fresh), type).to.equal(counts.loaded);
      }
      expect(skipped).to.equal(885);
      expect(await dangling(fresh, Object.keys(report.types))).to.deep.equal([]);
      expect((await annal(fresh, ['verify'])).code).to.equal(0);
      expect((await load([synthea], fresh)).report).to.deep.include({ transactions: 0, complete: true });
      const sum = (of: (type: (typeof report.types)[string]) => number) =>
        Object.values(report.types).reduce((all, type) => all + of(type), 0);
      const [found, loaded, matched] = [sum((t) => t.found), sum((t) => t.loaded), sum((t) => t.matched)];
      tell(`${found} entries found, ${loaded} loaded, ${matched} matched, ${skipped} of other types skipped`);
    } finally {
      await fresh.stop();
    }
  });

  /** Returns the references on a service that point to nothing on that service. */
  async function dangling(from: Service, types: readonly string[]): Promise<string[]> {
    const there = new Set<string>();
    const named = new Set<string>();
    for (const type of types) {
      let next: string | undefined = `/${type}?_count=200`;
      while (next !== undefined) {
        const answer = await from.fhir(next);
        if (answer.status !== 200) break;
        const { entry, link } = answer.json;
        for (const one of Array.isArray(entry) ? entry : []) {
          if (isObject(one) && isObject(one.resource)) there.add(`${type}/${String(one.resource.id)}`);
        }
        for (const [, reference = ''] of answer.text.matchAll(/"reference":"([^"#][^"]*)"/g))
          named.add(reference);
        const following = (Array.isArray(link) ? link : []).find(
          (one) => isObject(one) && one.relation === 'next',
        );
        next = isObject(following) && typeof following.url === 'string' ? following.url : undefined;
      }
    }
    return [...named].filter((reference) => !there.has(reference));
  }
});
