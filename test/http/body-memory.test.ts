/** Large request bodies: what they hold in memory while they come in. docs/limits.md */
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

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

  /** Begins a request with a body of 4 MB, sends 3 MB of it and stops. @returns what is answered meanwhile, if anything is */
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
    // Which of the two comes first is not said.
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
});
