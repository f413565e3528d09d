import { expect } from 'chai';
import { namedShapes } from '#queries/database/prepared.ts';

describe('statements that are put together from parts', () => {
  const prepared = namedShapes();

  it('have one name a text', () => {
    const text = `select 'a text of this test'`;
    const { name } = prepared(text, []);
    expect(name).to.be.a('string');
    expect(prepared(text, [1])).to.deep.equal({ name, text, values: [1] });
  });

  it('have none beyond the first two hundred', () => {
    for (let n = 0; n < 200; n += 1) prepared(`select ${n}`, []);
    expect(prepared('select 200', []).name).to.equal(undefined);
    expect(prepared('select 0', []).name).to.be.a('string');
  });

  it('have none when they are very long, because connections keep what is named', () => {
    expect(prepared(`select '${'x'.repeat(20_000)}'`, []).name).to.equal(undefined);
  });
});
