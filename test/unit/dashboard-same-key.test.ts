/** The keys with which the dashboard repeats writes whose responses were lost. */
import { expect } from 'chai';
import { Annal } from '../../clients/typescript/src/index.ts';
import { withSameKey } from '../../dashboard/same-key.ts';

/** Returns a client whose requests get the given responses, one after the other, and the keys that it sent. */
function clientOf(...answers: readonly (() => Response)[]): { annal: Annal; keys: string[] } {
  const keys: string[] = [];
  const left = [...answers];
  const annal = new Annal({
    baseUrl: 'http://localhost',
    retries: 0,
    fetch: withSameKey((_, init) => {
      keys.push(new Headers(init?.headers).get('Idempotency-Key') ?? '');
      const answer = left.shift();
      return new Promise((resolve) => resolve((answer ?? done)()));
    }),
  });
  return { annal, keys };
}

const done = (): Response => Response.json({ id: 'x' }, { status: 201 });
const lost = (): Response => {
  throw new TypeError('failed to fetch');
};
/** A response whose connection breaks after the head. */
const cut = (): Response =>
  new Response(new ReadableStream({ start: (stream) => stream.error(new TypeError('broken')) }));
const busy = (): Response => Response.json({}, { status: 409, headers: { 'Retry-After': '1' } });
const broken = (): Response => Response.json({}, { status: 502 });
const conflict = (): Response => Response.json({}, { status: 409 });

describe('a write that the dashboard repeats', () => {
  const create = ({ annal }: { annal: Annal }, name = 'Clinic') =>
    annal.post('/admin/organizations', { body: { name } }).catch(() => undefined);

  it('has the key of the first attempt until a response arrives, and then a new one', async () => {
    for (const unclear of [lost, cut, busy, broken]) {
      const client = clientOf(unclear, unclear);
      for (let n = 0; n < 4; n += 1) await create(client);
      const [first, second, third, fourth] = client.keys;
      expect(first).to.match(/^[0-9a-f-]{36}$/);
      expect([second, third], unclear.name).to.deep.equal([first, first]);
      expect(fourth, unclear.name).to.not.equal(first);
    }
  });

  it('has a new key after a refusal, and if it is a different write', async () => {
    const client = clientOf(conflict, lost);
    await create(client);
    await create(client);
    await create(client, 'Practice');
    expect(new Set(client.keys).size).to.equal(3);
  });
});
