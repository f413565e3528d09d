import { expect } from 'chai';
import fc from 'fast-check';
import { Indenter } from '#src/http/answer/pretty.ts';

describe('indented JSON', () => {
  it('is what JSON.stringify indents, wherever the text is cut', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.array(fc.nat(40), { maxLength: 20 }), (value, cuts) => {
        const bytes = Buffer.from(JSON.stringify(value));
        const indenter = new Indenter();
        const shown: Buffer[] = [];
        let at = 0;
        for (const cut of cuts) {
          shown.push(indenter.indent(bytes.subarray(at, at + cut)));
          at += cut;
        }
        shown.push(indenter.indent(bytes.subarray(at)));
        expect(Buffer.concat(shown).toString()).to.equal(JSON.stringify(value, null, 2));
      }),
    );
  });

  it('keeps numbers as they are written, and what stands in strings', () => {
    const text = '{"a":[1.50,1e3,{}],"b":"{\\"x\\": [1, 2]}\\\\","c":[]}';
    expect(new Indenter().indent(Buffer.from(text)).toString()).to.equal(
      '{\n  "a": [\n    1.50,\n    1e3,\n    {}\n  ],\n  "b": "{\\"x\\": [1, 2]}\\\\",\n  "c": []\n}',
    );
  });
});
