/**
 * Traces as a real collector receives them: a trace is complete, continues the caller's trace, and contains nothing from a
 * record.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually, portOf, startProgram } from '#test/support/process.ts';
import { itAtFullSize } from '#test/support/scale.ts';

/** A span in OTLP's JSON format. https://github.com/open-telemetry/opentelemetry-proto */
interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 2: SERVER, 3: CLIENT. */
  readonly kind: number;
  readonly status: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

interface Export {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

/** An OTLP/HTTP receiver. */
class Collector {
  readonly texts: string[] = [];
  readonly paths = new Set<string>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      this.texts.push(Buffer.concat(chunks).toString());
      this.paths.add(`${request.method} ${request.url} ${request.headers['content-type']}`);
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    });
  }

  static async start(): Promise<Collector> {
    const collector = new Collector();
    collector.#server.listen(0, '127.0.0.1');
    await once(collector.#server, 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  spans(): Span[] {
    return this.texts.flatMap((text) =>
      (JSON.parse(text) as Export).resourceSpans.flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap(({ spans }) => spans),
      ),
    );
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const FAILING = '00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('traces', () => {
  let collector: Collector;
  let service: InProcess;
  let patient: string;

  before(async () => {
    process.env.OTEL_BSP_SCHEDULE_DELAY = '50';
    collector = await Collector.start();
    service = await startInProcess({}, { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` });
    const body = JSON.stringify({ resourceType: 'Patient', name: [{ family: 'Zyxmarker' }] });
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01`, 'X-Service-Source-System': 'Quuxmarker' };
    const created = await service.fhir('/Patient', { method: 'POST', body, headers });
    patient = String(created.json.id);
    await service.fhir(`/Patient/${patient}`);
    await service.fhir('/Patient?identifier=urn:x|Plughmarker');
    await service.fhir(`/Patient/${patient}`, { method: 'PUT', body: '{"resourceType":"Frobmarker"}' });
    await service.fhir('/Patient', { method: 'POST', body, key: 'sk_test_Xyzzymarker' });
  });

  after(async () => {
    delete process.env.OTEL_BSP_SCHEDULE_DELAY;
    await service?.stop();
    collector?.stop();
  });

  const named = (trace: string, name: string): Span | undefined =>
    collector.spans().find((span) => span.traceId === trace && span.name === name);

  it('go to the collector by OTLP over HTTP', async () => {
    await eventually(() => collector.texts.length > 0);
    expect([...collector.paths]).to.deep.equal(['POST /v1/traces application/json']);
    expect(collector.texts[0]).to.contain('"service.name","value":{"stringValue":"annal"}');
  });

  it('lead from the request through the command and its append to the projections', async () => {
    const chain = ['POST /fhir/R4/:type', 'command create', 'append', 'projection resources'];
    await eventually(() => chain.every((name) => named(TRACE, name) !== undefined));
    let parent: string | undefined = PARENT;
    for (const name of chain) {
      expect(named(TRACE, name)?.parentSpanId, name).to.equal(parent);
      parent = named(TRACE, name)?.spanId;
    }
    const append = named(TRACE, 'append');
    expect(named(TRACE, 'projection history')?.parentSpanId).to.equal(append?.spanId);
    expect(named(TRACE, 'projection projects'), 'which takes no records').to.equal(undefined);
    expect(append?.attributes).to.deep.include({ key: 'annal.events', value: { intValue: 1 } });
    expect(append?.kind).to.equal(3);
    const stringValue = process.env.EVENTSTORE_URL ? 'eventstoredb' : 'postgresql';
    expect(append?.attributes).to.deep.include({ key: 'db.system.name', value: { stringValue } });
    const answered = named(TRACE, 'POST /fhir/R4/:type')?.attributes;
    expect(answered).to.deep.include({ key: 'http.response.status_code', value: { intValue: 201 } });
    expect(answered).to.deep.include({ key: 'url.scheme', value: { stringValue: 'http' } });
    expect(answered?.map(({ key }) => key)).to.not.include('error.type');
  });

  it('begin anew for a caller without one, with the question in it', async () => {
    const found = () => collector.spans().find(({ name }) => name === 'GET /fhir/R4/:type/:id');
    await eventually(() => found() !== undefined);
    const root = found();
    expect(root?.traceId).to.not.equal(TRACE);
    expect(root?.parentSpanId ?? '').to.equal('');
    await eventually(() => named(root?.traceId ?? '', 'query read') !== undefined);
    const query = named(root?.traceId ?? '', 'query read');
    expect(query?.parentSpanId).to.equal(root?.spanId);
    expect(query?.kind).to.equal(3);
    const system = { key: 'db.system.name', value: { stringValue: 'postgresql' } };
    expect(query?.attributes).to.deep.include(system);
  });

  it('do not call a refusal a failure', async () => {
    const found = () => collector.spans().find(({ name }) => name === 'PUT /fhir/R4/:type/:id');
    await eventually(() => found() !== undefined);
    expect(found()?.status.code ?? 0).to.equal(0);
  });

  it('call an answer of 5xx a failure, and say which', async () => {
    await service.pool.query('alter table resources.resource rename to gone');
    const { status } = await service.fhir(`/Patient/${patient}`, { headers: { traceparent: FAILING } });
    await service.pool.query('alter table resources.gone rename to resource');
    expect(status).to.be.at.least(500);
    const found = () => named(FAILING.slice(3, 35), 'GET /fhir/R4/:type/:id');
    await eventually(() => found() !== undefined);
    expect(found()?.status.code).to.equal(2);
    const type = { key: 'error.type', value: { stringValue: String(status) } };
    expect(found()?.attributes).to.deep.include(type);
  });

  it('hold no clinical content, no id of a resource and no credential', async () => {
    const requests = () =>
      collector.spans().filter(({ name }) => /^(GET|POST|PUT) \/(?!health|metrics)/.test(name));
    await eventually(() => requests().length === 6);
    const text = collector.texts.join('\n');
    expect(text).to.not.match(/marker/i);
    expect(text).to.not.contain(patient);
    expect(text).to.not.contain(service.key);
  });

  itAtFullSize('are not even loaded without a collector', async () => {
    const script = `
      await import('#src/app.ts');
      const { default: { _cache } } = await import('node:module');
      console.log(Object.keys(_cache).filter((file) => /opentelemetry.(sdk|core|exporter|otlp)/.test(file)).length);
      await import('#src/tracing/start.ts');
      console.log(Object.keys(_cache).filter((file) => /opentelemetry.(sdk|core|exporter|otlp)/.test(file)).length > 10);
      process.exit();`;
    const program = startProgram(process.execPath, ['--import=tsx', '--input-type=module', '-e', script]);
    expect(await program.ended).to.equal(0);
    expect(program.stdout()).to.equal('0\ntrue\n');
  });

  itAtFullSize('take nothing from the service when nobody collects them', async () => {
    const lonely = await startInProcess({}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
    const answer = await lonely.fhir('/Patient', { method: 'POST', body: '{"resourceType":"Patient"}' });
    expect(answer.status).to.equal(201);
    await lonely.stop();
  });
});
