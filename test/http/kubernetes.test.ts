/**
 * The manifests in deploy/kubernetes are valid against the published schemas, and refer to settings and paths that exist in
 * the service.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { configurationTable, loadConfig } from '#src/config.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

const FOLDER = new URL('../../deploy/kubernetes/', import.meta.url);

/** A manifest. */
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** The parts of a container that are compared with the service. */
interface Container {
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly envFrom: readonly Readonly<Record<string, { readonly name: string }>>[];
  readonly env: readonly { readonly name: string; readonly valueFrom: Ref }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
}

interface Ref {
  readonly secretKeyRef: { readonly name: string; readonly key: string };
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

const manifests = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.yaml'))
  .flatMap((name) => parseAllDocuments(readFileSync(new URL(name, FOLDER), 'utf8')))
  .map((document) => document.toJSON() as Manifest);

const find = (kind: string, name = 'annal'): Manifest => {
  const found = manifests.find((each) => each.kind === kind && each.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
};

/** Members added in CloudNativePG 1.25. The last package of its schemas that runs on Node 20 describes version 1.24. */
const NEWER = ['/spec/postgresql/synchronous/dataDurability'];

/** The class for a kind of manifest, from its published schema. */
type Model = new (data: object) => { validate(): void };

/** Returns the class for a manifest. CloudNativePG's schemas are in a separate package. */
async function loadModel({ apiVersion, kind }: Manifest): Promise<Model> {
  const from = apiVersion.includes('cnpg') ? '@kubernetes-models/cloudnative-pg' : 'kubernetes-models';
  const module: Readonly<Record<string, Model>> = await import(`${from}/${apiVersion}/${kind}`);
  const model = module[kind];
  if (model === undefined) throw new Error(`${apiVersion} has no ${kind}`);
  return model;
}

/**
 * Checks a manifest against its schema, which doesn't refuse unknown members.
 * @returns the paths of members that the schema didn't check because it doesn't know them
 * @throws Error that names each member that is missing or has a different type
 */
async function check(manifest: Manifest): Promise<string[]> {
  const read = new Set<string>();
  const watch = <T extends object>(value: T, path: string): T =>
    new Proxy(value, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof name !== 'string' || !Object.hasOwn(target, name)) return member;
        read.add(`${path}/${name}`);
        return typeof member === 'object' && member !== null ? watch(member, `${path}/${name}`) : member;
      },
    });
  const Kind = await loadModel(manifest);
  const made = new Kind(manifest);
  Kind.prototype.validate.call(watch(made, ''));
  const list = (value: unknown, path: string): string[] =>
    typeof value !== 'object' || value === null
      ? []
      : Object.entries(value).flatMap(([name, member]) => [
          `${path}/${name}`,
          ...list(member, `${path}/${name}`),
        ]);
  return list(manifest, '').filter((path) => !read.has(path));
}

const deployment = find('Deployment').spec as unknown as {
  readonly replicas: number;
  readonly selector: { readonly matchLabels: object };
  readonly template: {
    readonly metadata: { readonly labels: object };
    readonly spec: {
      readonly containers: readonly Container[];
      readonly terminationGracePeriodSeconds: number;
      readonly volumes: readonly { readonly secret?: { readonly secretName: string } }[];
    };
  };
};
const { template } = deployment;
const [container] = template.spec.containers;
if (container === undefined) throw new Error('there is no container');
const settings = { ...find('ConfigMap').data, ...find('Secret').stringData };

describe('the manifests for Kubernetes', () => {
  let service: InProcess;

  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  it('are as the published schemas want them', async () => {
    expect(manifests.map(({ kind }) => kind).sort()).to.deep.equal([
      'Cluster',
      'ConfigMap',
      'Deployment',
      'PodDisruptionBudget',
      'Secret',
      'Secret',
      'Service',
    ]);
    const unknown: string[] = [];
    for (const each of manifests) unknown.push(...(await check(each)));
    expect(unknown).to.deep.equal(NEWER);
  });

  it('would be refused with a wrong type, and with a name that the schema lacks', async () => {
    const budget = find('PodDisruptionBudget');
    const misspelt = { ...budget, spec: { ...budget.spec, maxUnavailible: 1 } };
    expect(await check(misspelt)).to.deep.equal(['/spec/maxUnavailible']);
    const refused = await check({ ...budget, spec: { ...budget.spec, selector: 'annal' } }).catch(String);
    expect(refused).to.contain('selector');
  });

  it('name settings that the service has, with values that it takes', () => {
    const known = configurationTable().map(({ name }) => name);
    const named = [...Object.keys(settings), ...container.env.map(({ name }) => name)];
    expect(named.filter((name) => !known.includes(name))).to.deep.equal([]);
    const config = loadConfig({
      ...settings,
      ...{ MODE: 'production', DATABASE_URL: 'postgresql://annal:secret@annal-postgresql-rw:5432/annal' },
    });
    const waits = container.lifecycle.preStop.sleep.seconds + config.shutdownSeconds;
    expect(template.spec.terminationGracePeriodSeconds).to.be.above(waits);
    // Instances store nothing on their own disks.
    expect(config.documentsBucket).to.not.equal(undefined);
    expect(config.auditKeyFile).to.equal('/etc/annal/audit-key.pem');
  });

  it('probe paths that the service answers, at the port of its image', async () => {
    for (const { httpGet } of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      expect((await fetch(service.url + httpGet.path)).status, httpGet.path).to.equal(200);
      expect(container.ports.map(({ name }) => name)).to.include(httpGet.port);
    }
    const dockerfile = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');
    expect(dockerfile).to.contain(` PORT=${container.ports[0]?.containerPort} `);
  });

  it('refer to each other', () => {
    for (const source of container.envFrom)
      for (const [kind, { name }] of Object.entries(source))
        find(kind === 'secretRef' ? 'Secret' : 'ConfigMap', name);
    for (const { secret } of template.spec.volumes)
      if (secret !== undefined) find('Secret', secret.secretName);
    // CloudNativePG names the secret after the cluster.
    const [database] = container.env;
    const { name, key } = database?.valueFrom.secretKeyRef ?? { name: '', key: '' };
    find('Cluster', name.replace(/-app$/, ''));
    expect(key).to.equal('uri');
    const labels = { 'app.kubernetes.io/name': 'annal' };
    expect(template.metadata.labels).to.deep.equal(labels);
    expect(deployment.selector.matchLabels).to.deep.equal(labels);
    expect(find('Service').spec?.selector).to.deep.equal(labels);
    expect(find('PodDisruptionBudget').spec?.selector).to.deep.equal({ matchLabels: labels });
  });

  it('leave PostgreSQL room for the connections of all instances', () => {
    const { postgresql } = find('Cluster', 'annal-postgresql').spec as unknown as {
      readonly postgresql: {
        readonly parameters: Readonly<Record<string, string>>;
        readonly synchronous: { readonly number: number; readonly dataDurability: string };
      };
    };
    // Three connections are reserved for PostgreSQL itself.
    expect(Number(postgresql.parameters.max_connections)).to.be.above((deployment.replicas + 1) * 40 + 3);
    expect(postgresql.synchronous).to.include({ number: 1, dataDurability: 'required' });
  });
});
