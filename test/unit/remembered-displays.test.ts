import { expect } from 'chai';
import type { SystemCode } from '#src/fhir/terminology.ts';
import { rememberDisplays } from '#src/terminology/remembered.ts';

describe('remembered displays', () => {
  const installed = new Map([['urn:s|a', 'Apple']]);
  const asked: string[][] = [];
  const look = async (codes: readonly SystemCode[]) => {
    const keys = codes.map(({ system, code }) => `${system}|${code}`);
    asked.push(keys);
    return new Map(keys.flatMap((key) => (installed.has(key) ? [[key, installed.get(key) ?? '']] : [])));
  };
  const [a, b] = ['a', 'b'].map((code) => ({ system: 'urn:s', code }));
  const codes = (...some: (SystemCode | undefined)[]) => some.flatMap((one) => one ?? []);
  beforeEach(() => asked.splice(0));

  it('are looked up once, each code once, whether it has one or not', async () => {
    const displays = rememberDisplays(look);
    for (let n = 0; n < 3; n += 1)
      expect([...(await displays(codes(a, b, a, b)))]).to.deep.equal([['urn:s|a', 'Apple']]);
    expect(asked).to.deep.equal([['urn:s|a', 'urn:s|b']]);
  });

  it('that come to be known later are shown soon', async () => {
    const displays = rememberDisplays(look, { missedMs: 1 });
    expect((await displays(codes(b))).size).to.equal(0);
    installed.set('urn:s|b', 'Banana');
    const end = performance.now() + 5_000;
    while ((await displays(codes(b))).size === 0) {
      expect(performance.now()).to.be.below(end);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect([...(await displays(codes(a, b)))].sort()).to.deep.equal([
      ['urn:s|a', 'Apple'],
      ['urn:s|b', 'Banana'],
    ]);
  });

  it('of long codes are not kept', async () => {
    const displays = rememberDisplays(look);
    const long = { system: 'urn:s', code: 'x'.repeat(1_000) };
    await displays([long]);
    await displays([long]);
    expect(asked).to.have.lengthOf(2);
  });
});
