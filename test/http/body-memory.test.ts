/** Large request bodies: how much memory they use while they arrive. docs/limits.md */
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { scaled } from '#test/support/scale.ts';

describe('the memory of large bodies', () => {
  let service: InProcess;
  const open = new Set<Socket>();

  before(async () => {
    service = await startInProcess({ bodyMemoryBytes: 3_000_000, bundleBytes: 4_000_000 });
  });
  after(async () => {
    for (const socket of open) socket.destroy();
    await service?.stop();
  });

  /**
   * Begins a request with a body of 4 MB, sends 3 MB of it and stops.
   * @returns the connection, and the answer if one arrives before the end of the body
   */
  const begun = (): { socket: Socket; answer: Promise<string> } => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.write(
      `POST /fhir/R4 HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${service.key}\r\n` +
        'Content-Type: application/fhir+json\r\nContent-Length: 4000000\r\n\r\n',
    );
    socket.write(Buffer.alloc(3_000_000, ' '));
    const answer = new Promise<string>((resolve, reject) => {
      socket.once('data', (chunk) => resolve(chunk.toString()));
      socket.once('error', reject);
      socket.once('close', () => resolve(''));
    });
    return { socket, answer };
  };
  const patient = {
    resourceType: 'Patient',
    photo: [{ contentType: 'image/png', data: 'AAAA'.repeat(600_000) }],
  };
  const create = () => service.fhir('/Patient', { method: 'POST', body: JSON.stringify(patient) });

  it('is bounded: a further one is 503 until those before are answered or gone', async () => {
    // Either of the two requests may be accepted.
    const [one, other] = [begun(), begun()];
    const refused = await Promise.race([
      one.answer.then((answer) => ({ answer, left: other })),
      other.answer.then((answer) => ({ answer, left: one })),
    ]);
    expect(refused.answer).to.match(/^HTTP\/1\.1 503 /);
    expect(refused.answer).to.match(/\r\nRetry-After: \d+\r\n/i);
    expect(refused.answer).to.include('too many large bodies');
    const small = await service.fhir('/Patient', {
      method: 'POST',
      body: '{"resourceType":"Patient","active":true}',
    });
    expect(small.status).to.equal(201);
    expect((await create()).status).to.equal(503);
    refused.left.socket.destroy();
    let answer = await create();
    while (answer.status === 503) answer = await create();
    expect(answer.status).to.equal(201);
  });

  it('of one project are written one after the other while another one writes, whose small body is not behind them', async () => {
    const other = await service.newProject();
    const count = scaled(24, 6);
    const photo = { ...patient, photo: [{ contentType: 'image/png', data: 'AAAA'.repeat(280_000) }] };
    const body = JSON.stringify(photo);
    const written = async (): Promise<string[]> =>
      (
        await service.pool.query<{ size: string }>(
          `select case when length(data) > 1000000 then 'large' else 'small' end as size
           from log.events where type = 'ResourceCreated' and position > $1 order by position`,
          [since],
        )
      ).rows.map(({ size }) => size);
    const { rows } = await service.pool.query<{ head: string }>(
      'select max(position) as head from log.events',
    );
    const since = rows[0]?.head;
    const create = async (): Promise<number> => {
      for (;;) {
        const { status } = await service.fhir('/Patient', { method: 'POST', body });
        if (status !== 503) return status;
      }
    };
    const large = Promise.all(Array.from({ length: count }, create));
    const small: number[] = [];
    for (let n = 0; n < count; n += 1) {
      const before = (await written()).length;
      const answer = await service.fhir('/Patient', {
        method: 'POST',
        key: other,
        body: '{"resourceType":"Patient","active":true}',
      });
      expect(answer.status).to.equal(201);
      const since = (await written()).slice(before);
      small.push(since.slice(0, since.lastIndexOf('small')).filter((size) => size === 'large').length);
    }
    expect(await large).to.deep.equal(Array.from({ length: count }, () => 201));
    // One large body is being written, and one more may have been next in line.
    expect(Math.max(...small)).to.be.at.most(2);
  });
});
