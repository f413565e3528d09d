/** Finding the operation `$name`, and reading its input: https://hl7.org/fhir/R4/operations.html */
import { expect } from 'chai';
import { capabilityStatement } from '#src/fhir/capability.ts';
import { validateResource } from '#src/fhir/validate.ts';
import type { Operation, OperationRequest } from '#src/http/fhir/operation.ts';
import type { FhirRequest } from '#src/http/fhir/request.ts';
import { matchRoute } from '#src/http/fhir/route.ts';
import { routeFor } from '#src/http/pipeline.ts';
import { isObject, parseJson } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';

describe('operations', () => {
  let given: OperationRequest | undefined;
  const table: readonly Operation[] = [
    {
      name: 'look',
      definition: 'http://example.org/OperationDefinition/look',
      system: true,
      types: ['Patient'],
      instances: ['Patient', 'Observation'],
      methods: ['GET', 'POST'],
      grantToken: 'refused',
      parameters: ['count', 'code', 'resource'],
      run: async (request) => {
        given = request;
        return { status: 200, headers: {} };
      },
    },
    {
      name: 'list',
      definition: 'http://example.org/OperationDefinition/list',
      system: true,
      methods: ['GET'],
      grantToken: 'refused',
      parameters: ['count'],
      searchset: true,
      run: async (request) => {
        given = request;
        return { status: 200, headers: {} };
      },
    },
    {
      name: 'send',
      definition: 'http://example.org/OperationDefinition/send',
      types: ['Observation'],
      methods: ['POST'],
      grantToken: 'refused',
      parameters: [],
      run: async () => ({ status: 200, headers: {} }),
    },
  ];
  const asked = (query: string, handling?: 'strict') =>
    ({
      query: new URLSearchParams(query),
      prefer: handling === undefined ? {} : { handling },
    }) as FhirRequest;

  /** Carries out an operation, and returns the input that it received. */
  const call = async (path: string, request: FhirRequest, body?: string): Promise<OperationRequest> => {
    const interaction = routeFor(
      matchRoute(path.split('/'), table).methods,
      body === undefined ? 'GET' : 'POST',
    );
    given = undefined;
    if (interaction.kind === 'read') await interaction.run(request, []);
    else if (interaction.kind === 'operation')
      await interaction.run(request, body === '' ? undefined : parseJson(body ?? ''));
    if (given === undefined) throw new Error('it was not carried out');
    return given;
  };
  const refused = (run: () => unknown): Refusal => {
    try {
      run();
    } catch (error) {
      if (error instanceof Refusal) return error;
    }
    throw new Error('it was not refused');
  };

  it('are found at the base, a type and an instance, where the table says so', async () => {
    expect(await call('$look', asked(''))).to.include({ type: undefined, id: undefined });
    expect(await call('Patient/$look', asked(''))).to.include({ type: 'Patient', id: undefined });
    expect(await call('Observation/7/$look', asked(''), '')).to.include({ type: 'Observation', id: '7' });
    expect(matchRoute(['Patient', '7', '$look'], table).pattern).to.equal('/:type/:id/$look');
    expect(refused(() => matchRoute(['Observation', '$look'], table)).issues[0]?.code).to.equal(
      'not-supported',
    );
    expect(refused(() => matchRoute(['Patient', '7', '$gone'], table)).status).to.equal(404);
    expect(refused(() => matchRoute(['Nothing', '$look'], table)).message).to.contain('Nothing');
    const wrong = refused(() => routeFor(matchRoute(['Observation', '$send'], table).methods, 'GET'));
    expect([wrong.status, wrong.headers.Allow]).to.deep.equal([405, 'POST, OPTIONS']);
  });

  it('are given the parameters of the URL and of the body', async () => {
    const parameters = {
      resourceType: 'Parameters',
      parameter: [
        { name: 'code', valueCoding: { code: 'x' } },
        { name: 'resource', resource: { resourceType: 'Patient' } },
      ],
    };
    const text = JSON.stringify(parameters).replace(']}', ',{"name":"count","valueDecimal":1.50}]}');
    const request = await call('$look', asked('count=2'), text);
    expect(request.query.getAll('count')).to.deep.equal(['2', '1.50']);
    expect(request.inputs[0]).to.deep.equal({ name: 'code', value: { code: 'x' } });
    expect(request.resource?.value).to.deep.equal({ resourceType: 'Patient' });
    const plain = await call('Patient/$look', asked(''), '{"resourceType":"Patient","active":true}');
    expect(plain.resource?.value).to.deep.equal({ resourceType: 'Patient', active: true });
  });

  it('refuse what is no Parameters, and what they do not have', async () => {
    const failure = (body: string, request = asked('')) =>
      call('$look', request, body).then(
        () => undefined,
        (error: unknown) => error,
      );
    for (const [body, where] of [
      ['[]', undefined],
      ['{"resourceType":"Parameters","parameter":{}}', 'Parameters.parameter'],
      ['{"resourceType":"Parameters","parameter":[{"valueCode":"x"}]}', 'Parameters.parameter[0].name'],
      ['{"resourceType":"Parameters","parameter":[{"name":"code"}]}', 'Parameters.parameter[0]'],
      [
        '{"resourceType":"Parameters","parameter":[{"name":"code","valueCode":"x","part":[]}]}',
        'Parameters.parameter[0]',
      ],
      [
        '{"resourceType":"Parameters","parameter":[{"name":"count","valueInteger":"a"}]}',
        'Parameters.parameter[0].valueInteger',
      ],
    ] as const) {
      const error = await failure(body);
      expect(error, body).to.be.instanceOf(Refusal).with.property('status', 400);
      expect(error instanceof Refusal && error.issues[0]?.expression, body).to.equal(where);
    }
    const unknown = '{"resourceType":"Parameters","parameter":[{"name":"other","valueCode":"x"}]}';
    for (const handling of [undefined, 'strict'] as const) {
      const error = await failure(unknown, asked('_format=json&_pretty=true&count=1', handling));
      expect(error).to.have.property('status', 400);
      expect(error).to.have.property('issues').with.length(1);
      expect(error).to.have.nested.property('issues[0].expression', 'Parameters.parameter[0].valueCode');
    }
  });

  it('that answer a searchset are told what they do not have, and refuse it with handling=strict', async () => {
    const request = await call('$list', asked('_format=json&other=1&count=2'));
    expect(request.ignored).to.deep.equal([
      {
        code: 'not-supported',
        severity: 'warning',
        diagnostics: 'unknown parameter other of operation $list: it was ignored',
        expression: 'query.other',
      },
    ]);
    expect((await call('$list', asked('count=2', 'strict'))).ignored).to.deep.equal([]);
    const error = await call('$list', asked('other=1', 'strict')).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Refusal).with.property('status', 400);
  });

  it('are declared in the CapabilityStatement', () => {
    const statement = capabilityStatement({
      baseUrl: 'http://localhost/fhir/R4',
      serviceUrl: 'http://localhost',
      version: '0.3.0',
      date: '2026-11-21T09:30:00Z',
      operations: table,
    });
    const { value } = parseJson(JSON.stringify(statement));
    expect(isObject(value) && validateResource(value, 'CapabilityStatement')).to.deep.equal([]);
    const [look, list, send] = table.map(({ name, definition }) => ({ name, definition }));
    expect(statement).to.have.nested.property('rest[0].operation').that.deep.equals([look, list]);
    expect(statement).to.have.nested.property('rest[0].resource[0].operation').that.deep.equals([look]);
    expect(statement).to.have.nested.property('rest[0].resource[1].operation').that.deep.equals([look, send]);
    expect(statement).not.to.have.nested.property('rest[0].resource[2].operation');
  });
});
