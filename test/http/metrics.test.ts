/** `/metrics` of a real service with some traffic, and the dashboard and alerts that use the metrics. */
import { readFile } from 'node:fs/promises';
import { parser } from '@prometheus-io/lezer-promql';
import { expect } from 'chai';
import { parse } from 'yaml';
import { VERSION } from '#src/http/version.ts';
import { HERE, type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';

/** A line in the text format. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-z_][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

function samplesOf(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(LABEL)].map(([, key, of]) => [key, of]);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

/**
 * Returns the names and labels in a PromQL expression.
 * @throws Error if the expression isn't PromQL
 */
function usedIn(expression: string): { metrics: string[]; labels: string[] } {
  const metrics: string[] = [];
  const labels: string[] = [];
  // Grafana's own variables appear where PromQL requires a duration.
  const text = expression.replaceAll('$__rate_interval', '5m');
  parser.parse(text).iterate({
    enter({ name, type, from, to }) {
      if (type.isError) throw new Error(`no PromQL at ${from}: ${text}`);
      const own = text.slice(from, to);
      if (name === 'Identifier') metrics.push(own);
      if (name === 'LabelName') labels.push(own);
    },
  });
  return { metrics, labels };
}

async function page(name: string): Promise<string> {
  return readFile(new URL(`../../docs/monitoring/${name}`, import.meta.url), 'utf8');
}

/** Returns every `expr` in a tree of objects. */
function expressionsOf(tree: unknown): string[] {
  if (Array.isArray(tree)) return tree.flatMap(expressionsOf);
  if (typeof tree !== 'object' || tree === null) return [];
  return Object.entries(tree).flatMap(([key, value]) =>
    key === 'expr' && typeof value === 'string' ? [value] : expressionsOf(value),
  );
}

const patient = (family: string) => ({ resourceType: 'Patient', name: [{ family }] });

describe('metrics', () => {
  let service: InProcess;
  let id: string;

  const text = async (): Promise<string> => (await fetch(`${service.url}/metrics`)).text();
  const samples = async (): Promise<Sample[]> => samplesOf(await text());
  const sampled = async (name: string, labels: Record<string, string> = {}): Promise<number | undefined> =>
    (await samples()).find(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    )?.value;

  before(async () => {
    service = await startInProcess({}, HERE);
    const headers = { 'X-Service-Source-System': 'Quuxmarker', 'Idempotency-Key': 'Keymarker' };
    id = String((await service.post('/Patient', patient('Zyxmarker'), headers)).json.id);
    await service.post('/Patient', patient('Zyxmarker'), { 'If-None-Exist': 'identifier=urn:x|Plughmarker' });
    await service.post('', {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [1, 2].map((n) => ({
        resource: {
          resourceType: 'Observation',
          status: 'final',
          code: { text: `Zyxmarker ${n}` },
          subject: { reference: `Patient/${id}` },
        },
        request: { method: 'POST', url: 'Observation' },
      })),
    });
    for (const path of [
      `/Patient/${id}`,
      `/Patient/${id}/_history`,
      `/Patient/${id}/_history/1`,
      '/Frobmarker',
    ]) {
      await service.fhir(path);
    }
    await service.fhir('/Patient?identifier=urn:x|Plughmarker');
    await service.fhir(`/Provenance?target=Patient/${id}`);
    await service.fhir(`/Patient/${id}`, { key: 'sk_test_Xyzzymarker' });
    await service.fhir(`${service.url}/Waldomarker`);
  });

  after(() => service.stop());

  it('say of each what it is, in the units of its name', async () => {
    const own = (await service.fhir(`${service.url}/metrics`)).text
      .split('\n')
      .flatMap((line) => /^# (HELP|TYPE) (annal_\w+|http_\w+) (.*)$/.exec(line)?.slice(1) ?? []);
    const told = new Map<string, { help?: string; type?: string }>();
    for (let i = 0; i < own.length; i += 3) {
      const [kind, name = '', says] = own.slice(i, i + 3);
      told.set(name, { ...told.get(name), [kind === 'HELP' ? 'help' : 'type']: says });
    }
    expect(told.size).to.be.greaterThan(20);
    for (const [name, { help, type }] of told) {
      expect(help, name).to.match(/^\S.*\.$/);
      expect(name.endsWith('_total'), name).to.equal(type === 'counter');
      if (/duration|lag_s/.test(name)) expect(name).to.match(/_seconds$/);
    }
  });

  it('count appends and their events', async () => {
    expect(await sampled('annal_events_appended_total', { type: 'ResourceCreated' })).to.equal(4);
    expect(await sampled('annal_append_duration_seconds_count', { outcome: 'ok' })).to.be.greaterThan(3);
    expect(await sampled('annal_append_batch_appends_count')).to.be.greaterThan(3);
    const kind = process.env.EVENTSTORE_URL ? 'eventstoredb' : 'postgresql';
    expect(await sampled('annal_event_store_info', { kind })).to.equal(1);
    expect(await sampled('annal_build_info', { version: VERSION })).to.equal(1);
    for (const check of ['event_store', 'database', 'projections']) {
      expect(await sampled('annal_ready_check', { check }), check).to.equal(1);
    }
  });

  it('time queries by what is asked', async () => {
    const asked = (await samples())
      .filter(({ name }) => name === 'annal_query_duration_seconds_count')
      .map(({ labels }) => labels.query);
    expect(asked).to.include.members([
      'apiKey',
      'read',
      'vread',
      'history',
      'search',
      'searchProvenance',
      'match',
    ]);
  });

  it('follow projections and processes', async () => {
    for (const projection of ['resources', 'search', 'history', 'projects']) {
      await eventually(async () => (await sampled('annal_projection_lag_events', { projection })) === 0);
      expect(await sampled('annal_projection_lag_seconds', { projection })).to.equal(0);
      expect(await sampled('annal_projection_state', { projection, state: 'running' })).to.equal(1);
      // Projections that share a transaction also share a subscription.
      const together = ['resources', 'history'];
      const subscriber = `projection ${together.includes(projection) ? together.join(' ') : projection}`;
      expect(await sampled('annal_subscription_active', { subscriber })).to.equal(1);
      expect(await sampled('annal_subscription_events_total', { subscriber })).to.be.greaterThan(0);
    }
    for (const process of ['directory-entries', 'erasure']) {
      await eventually(async () => (await sampled('annal_process_lag_events', { process })) === 0);
      expect(await sampled('annal_process_parked_events', { process })).to.equal(0);
      expect(await sampled('annal_subscription_active', { subscriber: `process ${process}` })).to.equal(1);
    }
  });

  it('show a projection that lags, and who holds what meanwhile', async () => {
    const blocker = await service.pool.connect();
    await blocker.query('begin; lock table resources.checkpoint in exclusive mode');
    const writing = service.post('/Patient', patient('Late'), {
      'If-None-Exist': 'identifier=urn:x|late',
      'Idempotency-Key': 'late',
    });
    try {
      const lag = () => sampled('annal_projection_lag_events', { projection: 'resources' });
      await eventually(async () => (await lag()) === 1);
      await eventually(
        async () =>
          ((await sampled('annal_projection_lag_seconds', { projection: 'resources' })) ?? 0) > 0.05,
      );
      await eventually(
        async () => (await sampled('annal_projection_lag_events', { projection: 'timeline' })) === 0,
      );
      expect(await sampled('annal_criteria_locks_held')).to.equal(1);
      expect(await sampled('annal_criteria_locks_waiting')).to.equal(0);
      expect(await sampled('annal_pool_connections', { pool: 'criteria_locks', state: 'in_use' })).to.equal(
        1,
      );
      expect(await sampled('annal_idempotent_requests_running')).to.equal(1);
    } finally {
      await blocker.query('commit');
      blocker.release();
    }
    await writing;
    await eventually(
      async () => (await sampled('annal_projection_lag_events', { projection: 'resources' })) === 0,
    );
    expect(await sampled('annal_criteria_locks_held')).to.equal(0);
    expect(await sampled('annal_idempotent_requests_running')).to.equal(0);
  });

  it('hold no clinical content, no id and no credential, and stay few', async () => {
    const before = (await samples()).length;
    for (let n = 0; n < 30; n += 1) await service.fhir(`/Patient/${id}-${n}`);
    for (let n = 0; n < 30; n += 1) await service.fhir(`/Frobmarker${n}?Garplymarker=${n}`);
    const found = await text();
    expect(samplesOf(found).length - before).to.be.lessThan(30);
    expect(found).to.not.match(/marker/i);
    expect(found).to.not.contain(id);
    expect(found).to.not.contain(service.key);
    expect(service.log.join('\n')).to.not.match(/marker/i);
  });

  for (const [name, read] of [
    ['annal-dashboard.json', (json: string): unknown => JSON.parse(json)],
    ['annal-alerts.yaml', (yaml: string): unknown => parse(yaml)],
  ] as const) {
    it(`are what ${name} is made of`, async () => {
      const found = await samples();
      // Prometheus itself reports whether it could reach an instance.
      const labelsOf = new Map<string, Set<string>>([['up', new Set(['instance', 'job'])]]);
      for (const { name: metric, labels } of found) {
        const known = labelsOf.get(metric) ?? new Set(['instance', 'job']);
        for (const label of Object.keys(labels)) known.add(label);
        labelsOf.set(metric, known);
      }
      const expressions = expressionsOf(read(await page(name)));
      expect(expressions.length).to.be.greaterThan(10);
      for (const expression of expressions) {
        const { metrics, labels } = usedIn(expression);
        expect(metrics, expression).to.not.deep.equal([]);
        const known = new Set(metrics.flatMap((metric) => [...(labelsOf.get(metric) ?? [])]));
        for (const metric of metrics) expect([...labelsOf.keys()], expression).to.include(metric);
        for (const label of labels) expect([...known], expression).to.include(label);
      }
    });
  }

  it('would notice a name or a query that does not exist', () => {
    expect(usedIn('rate(annal_nothing_total{a="b"}[5m]) > 1')).to.deep.equal({
      metrics: ['annal_nothing_total'],
      labels: ['a'],
    });
    expect(() => usedIn('rate(annal_nothing_total[5m]')).to.throw('no PromQL');
  });
});
