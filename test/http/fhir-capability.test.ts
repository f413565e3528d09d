/** Everything that the CapabilityStatement declares is accepted and has an effect. */
import { expect } from 'chai';
import { isResourceType, type ResourceType, typeEntry } from '#src/fhir/types.ts';
import { type JsonObject, printJson } from '#src/shared/json/json.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { sample, sampleProvenance, WRITABLE_TYPES } from '#test/support/samples.ts';
import { everyNth } from '#test/support/scale.ts';

interface Named {
  readonly name: string;
}
interface Rest {
  readonly interaction: readonly { readonly code: string }[];
  readonly searchParam: readonly (Named & { readonly type: string })[];
  readonly operation?: readonly Named[];
  readonly compartment: readonly string[];
  readonly resource: readonly {
    readonly type: ResourceType;
    readonly interaction: readonly { readonly code: string }[];
    readonly conditionalCreate?: boolean;
    readonly conditionalUpdate?: boolean;
    readonly conditionalDelete?: string;
    readonly conditionalRead?: string;
    readonly updateCreate?: boolean;
    readonly searchInclude: readonly string[];
    readonly searchRevInclude: readonly string[];
    readonly searchParam: readonly (Named & { readonly type: string })[];
    readonly operation?: readonly Named[];
  }[];
}

/** A valid value for each type of parameter. */
const VALUES: Readonly<Record<string, string>> = {
  token: 'urn:x|y',
  reference: 'Patient/00000000-0000-4000-8000-000000000000',
  date: 'ge2020-01-01',
  string: 'x',
  uri: 'http://example.org/x',
  number: '1',
  quantity: '5.4|http://unitsofmeasure.org|mg',
};
/** Parameters whose values differ from those of their type. */
const SPECIAL: Readonly<Record<string, string>> = {
  _id: '00000000-0000-4000-8000-000000000000',
  _type: 'Patient',
  near: '47.1|8.5|10|km',
};

describe('what the CapabilityStatement declares', () => {
  // This suite sends hundreds of requests.
  let service: InProcess;
  let rest: Rest;
  let statement: JsonObject & { rest: Rest[] };
  /** Maps a type to the id of a resource of that type. */
  const ids = new Map<string, string>();
  const strict = { headers: { Prefer: 'handling=strict' } };
  before(async () => {
    service = await startInProcess();
    statement = JSON.parse((await service.fhir('/metadata', { key: null })).text);
    const [first] = statement.rest;
    if (first === undefined) throw new Error('there is no rest');
    rest = first;
    const create = async (type: string, body: JsonObject) =>
      void ids.set(type, (await service.post(`/${type}`, JSON.parse(printJson(body)))).json.id as string);
    const refs = () =>
      Object.fromEntries(
        ['Patient', 'Practitioner', 'Organization', 'Location', 'Encounter'].flatMap((type) =>
          ids.has(type) ? [[type.toLowerCase(), `${type}/${ids.get(type)}`]] : [],
        ),
      );
    const early = ['Organization', 'Practitioner', 'Location', 'Patient', 'Encounter'] as const;
    for (const type of [...early, ...WRITABLE_TYPES.filter((each) => !early.some((one) => one === each))])
      await create(type, sample(type, refs()));
    await create(
      'Provenance',
      sampleProvenance([`Patient/${ids.get('Patient')}`], `Practitioner/${ids.get('Practitioner')}`),
    );
  });
  after(() => service.stop());

  const get = async (path: string) => {
    const answer = await service.fhir(path, strict);
    expect(answer.status, `${path}: ${answer.text.slice(0, 500)}`).to.equal(200);
    return answer;
  };
  /**
   * Sends the requests in groups as large as the number of searches that one project may run at once. On a slow machine, any
   * further requests would time out waiting.
   */
  const all = async (paths: readonly string[]) => {
    for (let at = 0; at < paths.length; at += 6) await Promise.all(paths.slice(at, at + 6).map(get));
  };
  const sampleValue = ({ name, type }: Named & { readonly type: string }): string => {
    const value = SPECIAL[name] ?? VALUES[type];
    if (value === undefined) throw new Error(`no value for a ${type}`);
    return encodeURIComponent(value);
  };

  it('is every type with every search parameter', async () => {
    const paths = rest.resource.flatMap(({ type, searchParam }) =>
      searchParam
        .filter((parameter) => parameter.type !== 'composite')
        .map((parameter) => `/${type}?${parameter.name}=${sampleValue(parameter)}&_count=1&_total=none`),
    );
    expect(paths.length).to.be.greaterThan(400);
    await all(everyNth(paths, 4));
  });

  it('is every composite: a value of one part alone is refused as such, and not as an unknown parameter', async () => {
    const composites = rest.resource.flatMap(({ type, searchParam }) =>
      searchParam.filter((parameter) => parameter.type === 'composite').map(({ name }) => ({ type, name })),
    );
    expect(composites.length).to.be.greaterThan(10);
    for (const { type, name } of composites) {
      const { status, text } = await service.fhir(`/${type}?${name}=x`, strict);
      expect(status, `${type}.${name}`).to.equal(400);
      expect(text).not.to.contain('has no search parameter');
    }
  });

  it('is every _include and _revinclude', async () => {
    const paths = rest.resource.flatMap(({ type, searchInclude, searchRevInclude }) => [
      ...searchInclude.map((value) => `/${type}?_include=${value}&_count=1&_total=none`),
      ...searchRevInclude.map((value) => `/${type}?_revinclude=${value}&_count=1&_total=none`),
    ]);
    await all(everyNth(paths, 4));
    const found = await get(`/Patient?_id=${ids.get('Patient')}&_revinclude=*&_include=*`);
    expect(found.text).to.contain(ids.get('Observation')).and.to.contain(ids.get('Organization'));
  });

  it('has conditional writes of every type that clients write', () => {
    for (const { type, interaction, ...declared } of rest.resource) {
      const isWritten = interaction.some(({ code }) => code === 'create');
      expect(
        [declared.conditionalCreate, declared.conditionalUpdate, declared.conditionalDelete],
        type,
      ).to.deep.equal(isWritten ? [true, true, 'single'] : [undefined, undefined, undefined]);
    }
  });

  it('is every interaction of every type', async () => {
    for (const { type, interaction, ...declared } of everyNth(rest.resource, 3)) {
      const codes = interaction.map(({ code }) => code);
      if (typeEntry(type).home === 'terminology') {
        expect(codes).to.deep.equal(['read', 'vread', 'search-type']);
        expect((await service.fhir(`/${type}/none`)).status).to.equal(404);
        for (const url of [`/${type}/_history`, `/${type}/none/_history`])
          expect((await service.fhir(url)).status, url).to.equal(405);
        continue;
      }
      const at = `/${type}/${ids.get(type)}`;
      const read = await get(at);
      const body = read.text;
      const doing: Record<string, () => Promise<unknown>> = {
        read: () => get(at),
        vread: () => get(`${at}/_history/1`),
        'history-instance': () => get(`${at}/_history`),
        'history-type': () => get(`/${type}/_history`),
        'search-type': () => get(`/${type}`),
        create: () => service.post(`/${type}`, JSON.parse(body)),
        update: async () =>
          expect((await service.fhir(at, { method: 'PUT', body })).status, at).to.equal(200),
        patch: async () => {
          const headers = { 'Content-Type': 'application/json-patch+json' };
          const patch = '[{"op":"add","path":"/language","value":"de"}]';
          expect((await service.fhir(at, { method: 'PATCH', headers, body: patch })).status, at).to.equal(
            200,
          );
        },
        delete: async () => {
          const made = await service.post(`/${type}`, JSON.parse(body));
          const gone = await service.fhir(`/${type}/${made.json.id}`, { method: 'DELETE' });
          expect(gone.status, type).to.equal(204);
        },
      };
      for (const code of codes) {
        const run = doing[code];
        if (run === undefined) throw new Error(`${type} declares ${code}, which nobody tries`);
        await run();
      }
      expect(declared.conditionalRead).to.equal('full-support');
      const headers = { 'If-None-Match': (await get(at)).headers.get('etag') ?? '' };
      expect((await service.fhir(at, { headers })).status).to.equal(304);
      await conditionals(type, body, declared);
    }
  });

  const conditionals = async (
    type: ResourceType,
    body: string,
    declared: Pick<
      Rest['resource'][number],
      'conditionalCreate' | 'conditionalUpdate' | 'conditionalDelete' | 'updateCreate'
    >,
  ) => {
    const criteria = `_id=${ids.get(type)}`;
    const none = '_id=00000000-0000-4000-8000-000000000000';
    if (declared.conditionalCreate === true) {
      const headers = { 'If-None-Exist': criteria };
      expect((await service.fhir(`/${type}`, { method: 'POST', body, headers })).status, type).to.equal(200);
    }
    if (declared.conditionalUpdate === true)
      expect((await service.fhir(`/${type}?${criteria}`, { method: 'PUT', body })).status, type).to.equal(
        200,
      );
    if (declared.conditionalDelete === 'single')
      expect((await service.fhir(`/${type}?${none}`, { method: 'DELETE' })).status, type).to.equal(204);
    const absent = '00000000-0000-4000-8000-000000000001';
    const put = JSON.stringify({ ...JSON.parse(body), id: absent });
    const created = await service.fhir(`/${type}/${absent}`, { method: 'PUT', body: put });
    expect([created.status, declared.updateCreate]).to.deep.equal([405, false]);
  };

  it('is every interaction, parameter and compartment of the system', async () => {
    expect(rest.interaction.map(({ code }) => code).sort()).to.deep.equal([
      'batch',
      'history-system',
      'search-system',
      'transaction',
    ]);
    await get('/_history');
    await all(rest.searchParam.map((parameter) => `?_count=1&${parameter.name}=${sampleValue(parameter)}`));
    for (const type of ['batch', 'transaction'])
      await service.post('/', {
        resourceType: 'Bundle',
        type,
        entry: [{ request: { method: 'GET', url: 'Patient' } }],
      });
    expect(rest.compartment).to.have.length(5);
    for (const url of rest.compartment) {
      const name = /CompartmentDefinition\/(\w+)$/.exec(url)?.[1] ?? '';
      const type = name.charAt(0).toUpperCase() + name.slice(1);
      await get(`/${type}/${ids.get(type)}/*?_count=1`);
    }
    expect(statement.format).to.include('application/fhir+json');
    for (const format of ['application/fhir+json', 'json'])
      await get(`/Patient?_format=${encodeURIComponent(format)}`);
  });

  it('is every operation, where it says', async () => {
    const places = [
      ...(rest.operation ?? []).map(({ name }) => `/$${name}`),
      ...rest.resource.flatMap(({ type, operation = [] }) =>
        operation.flatMap(({ name }) => [
          `/${type}/$${name}`,
          `/${type}/${ids.get(type) ?? 'none'}/$${name}`,
        ]),
      ),
    ];
    for (const place of places) {
      // Without its inputs, the operation reports what it needs, which shows that it exists: for the type, for an instance, or
      // for both.
      const answers = await Promise.all(['GET', 'POST'].map((method) => service.fhir(place, { method })));
      const there = answers.filter(({ status }) => status !== 405);
      if (there.every(({ status, text }) => status === 404 && text.includes('is not supported'))) {
        const [, type = ''] = place.split('/');
        expect(isResourceType(type), place).to.equal(true);
        const name = place.slice(place.indexOf('$'));
        const other = place.startsWith(`/${type}/$`)
          ? `/${type}/${ids.get(type) ?? 'none'}/${name}`
          : `/${type}/${name}`;
        const elsewhere = await Promise.all(['GET', 'POST'].map((method) => service.fhir(other, { method })));
        expect(
          elsewhere.some(({ text }) => !text.includes('is not supported')),
          place,
        ).to.equal(true);
        continue;
      }
      for (const { status, text } of there)
        expect(status, `${place}: ${text.slice(0, 300)}`).to.be.lessThan(500);
    }
  });
});
