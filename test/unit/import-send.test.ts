/** When the importer waits and retries, and when it doesn't, tested with a real HTTP server. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { expect } from 'chai';
import { Failure } from '#src/cli/failure.ts';
import { Refused, Sender, type SendOptions } from '#src/cli/import/send.ts';
import { portOf } from '#test/support/process.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const ok: Answer = (_, response) => response.end('{"resourceType":"Bundle","type":"transaction-response"}');
const refuse =
  (status: number, headers: Record<string, string> = {}, body = ''): Answer =>
  (_, response) =>
    response.writeHead(status, headers).end(body);

describe('sending', () => {
  let server: Server;
  let url: string;
  let answers: Answer[];
  let seen: { key: string | undefined; at: number }[];

  beforeEach(async () => {
    answers = [];
    seen = [];
    server = createServer((request, response) => {
      request.resume().on('end', () => {
        const key = request.headers['idempotency-key'];
        seen.push({ key: typeof key === 'string' ? key : undefined, at: Date.now() });
        (answers.shift() ?? ok)(request, response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${portOf(server)}`;
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const sender = (options: Partial<SendOptions> = {}): Sender =>
    new Sender({ url, key: 'k', headers: {}, salt: '', backoff: [5, 20], ...options });

  it('waits out a 429 for as long as Retry-After says, and lets no other worker through meanwhile', async () => {
    answers = [refuse(429, { 'Retry-After': '1' })];
    const waits: string[] = [];
    const sending = sender({ onRetry: (why) => waits.push(why) });
    const first = sending.post('{}', 'a');
    while (waits.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([first, sending.post('{"b":1}', 'b')]);
    expect(seen).to.have.length(3);
    expect(seen.slice(1).every(({ at }) => at - (seen[0]?.at ?? 0) >= 990)).to.equal(true);
    expect(waits).to.deep.equal(['throttled']);
  });

  it('sends again with the same Idempotency-Key after 503, a lost answer and a 409 that is still running', async () => {
    answers = [
      refuse(503, { 'Retry-After': '0' }),
      (request) => request.socket.destroy(),
      refuse(409, { 'Retry-After': '0' }),
    ];
    await sender().post('{}', 'same');
    expect(seen.map(({ key }) => key)).to.deep.equal(['same', 'same', 'same', 'same']);
  });

  it('hands on a refusal with its places', async () => {
    const outcome = {
      resourceType: 'OperationOutcome',
      issue: [
        {
          severity: 'error',
          code: 'required',
          diagnostics: 'code is missing',
          expression: ['Bundle.entry[3].resource.code'],
        },
        { severity: 'error', code: 'invalid', details: { text: 'in words' } },
      ],
    };
    answers = [refuse(422, {}, JSON.stringify(outcome))];
    const error: unknown = await sender()
      .post('{}', 'a')
      .catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Refused);
    expect(error).to.deep.include({
      status: 422,
      issues: [
        { diagnostics: 'code is missing', entry: 3, expression: 'resource.code' },
        { diagnostics: 'in words' },
      ],
    });
    expect(seen).to.have.length(1);
  });

  it('gives up at once when the key is refused, and after its patience when nobody answers', async () => {
    answers = [refuse(401)];
    const refused: unknown = await sender()
      .post('{}', 'a')
      .catch((thrown: unknown) => thrown);
    expect(refused).to.be.instanceOf(Failure);
    answers = Array.from({ length: 1000 }, () => refuse(503));
    const away: unknown = await sender({ patience: 50 })
      .post('{}', 'a')
      .catch((thrown: unknown) => thrown);
    expect(away).to.be.instanceOf(Failure);
    expect((away as Failure).message).to.contain('did not answer');
  });

  it('derives the Idempotency-Key from content, service, headers and import', () => {
    const key = sender().makeKey('body');
    expect(key).to.match(/^[\x21-\x7e]{1,255}$/);
    expect(sender().makeKey('body')).to.equal(key);
    expect(sender().makeKey('other')).not.to.equal(key);
    expect(sender({ salt: 'again' }).makeKey('body')).not.to.equal(key);
    expect(sender({ headers: { 'X-Service-Source-System': 'x' } }).makeKey('body')).not.to.equal(key);
  });
});
