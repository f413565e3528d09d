/**
 * A worker whose heap is full exits, which breaks only its own connections: acknowledged writes are there, and other
 * connections aren't affected.
 */
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { listProcesses } from '#test/support/machine.ts';
import { eventually } from '#test/support/process.ts';
import { describeAtFullSize } from '#test/support/scale.ts';
import { type Service, startService } from '#test/support/service.ts';

const EXHAUST = fileURLToPath(new URL('exhaust-heap.cjs', import.meta.url));
const CLIENTS = 8;
/** Number of creates by each client before the worker exits, and again after that. */
const CREATES = 20;

/** A client with one persistent connection. Records what it wrote, and how its requests failed. */
class Client {
  readonly written: string[] = [];
  readonly failures: string[] = [];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(private readonly service: Service) {}

  /** Creates patients until the given number of further creates have been acknowledged. */
  async write(count: number): Promise<void> {
    for (const until = this.written.length + count; this.written.length < until; ) {
      try {
        const { status, id } = await this.#create();
        if (status === 201) this.written.push(id);
        else this.failures.push(`status ${status}`);
      } catch (error) {
        this.failures.push(String((error as NodeJS.ErrnoException).code));
      }
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #create(): Promise<{ readonly status: number; readonly id: string }> {
    return new Promise((resolve, reject) => {
      const headers = { 'X-Api-Key': this.service.key, 'Content-Type': 'application/fhir+json' };
      const options = { method: 'POST', agent: this.#agent, headers };
      const sent = request(`${this.service.url}/fhir/R4/Patient`, options, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        answer.on('error', reject).on('end', () => {
          const status = answer.statusCode ?? 0;
          resolve({ status, id: status === 201 ? String(JSON.parse(text).id) : '' });
        });
      });
      sent.on('error', reject).end('{"resourceType":"Patient"}');
    });
  }
}

describeAtFullSize('a worker whose heap is full', () => {
  let service: Service;
  const clients: Client[] = [];

  before(async () => {
    const NODE_OPTIONS = `--max-old-space-size=256 --require=${EXHAUST}`;
    service = await startService({ env: { WORKERS: '2', PROJECTORS: '1', NODE_OPTIONS } });
    for (let n = 0; n < CLIENTS; n += 1) clients.push(new Client(service));
  });
  after(async () => {
    for (const client of clients) client.close();
    await service.stop();
  });

  it('breaks its own connections and no others, and loses nothing acknowledged', async () => {
    await Promise.all(clients.map((client) => client.write(CREATES)));
    const full = listProcesses(service.pid).find(({ name }) => name === 'http-1');
    if (full === undefined) throw new Error('no process http-1');
    process.kill(full.pid, 'SIGUSR2');
    await Promise.all(clients.map((client) => client.write(CREATES)));
    await eventually(() =>
      listProcesses(service.pid).some(({ name, pid }) => name === 'http-1' && pid !== full.pid),
    );
    expect(service.log()).to.match(/http-1[^\n]*SIGABRT/);

    const broken = clients.filter(({ failures }) => failures.length > 0);
    expect(broken.length, 'clients that noticed').to.be.within(1, CLIENTS - 1);
    for (const { failures } of broken) expect(failures).to.deep.equal(['ECONNRESET']);

    const written = clients.flatMap((client) => client.written);
    expect(written).to.have.length(2 * CREATES * CLIENTS);
    for (const id of written) expect((await service.fhir(`/Patient/${id}`)).status, id).to.equal(200);
    // A create whose connection broke may have been written, but at most once.
    const { total } = (await service.fhir('/Patient?_summary=count')).json;
    expect(Number(total)).to.be.within(written.length, written.length + broken.length);
  });
});
