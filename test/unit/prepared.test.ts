import { expect } from 'chai';
import { prepared } from '#queries/prepared.ts';

describe('statements that are put together from parts', () => {
  it('have one name a text', () => {
    const text = `select 'a text of this test'`;
    const { name } = prepared(text, []);
    expect(name).to.be.a('string');
    expect(prepared(text, [1])).to.deep.equal({ name, text, values: [1] });
  });

  it('have none when they are very long, because connections keep what is named', () => {
    expect(prepared(`select '${'x'.repeat(20_000)}'`, []).name).to.equal(undefined);
  });
});
