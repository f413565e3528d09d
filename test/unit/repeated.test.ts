/** Finding names that occur twice in a request, and how long that takes. */
import { expect } from 'chai';
import { hasSeveralValues, repeatedName } from '#src/http/path.ts';

describe('names that occur twice', () => {
  it('are found, unless they may', () => {
    const repeatable = new Set(['resource']);
    expect(repeatedName(['a', 'b', 'a', 'b'], repeatable)).to.equal('a');
    expect(repeatedName(['resource', 'a', 'resource'], repeatable)).to.equal(undefined);
    expect(repeatedName(['__proto__', 'constructor'], repeatable)).to.equal(undefined);
  });

  it('are looked for in time that grows with their number, not with its square', () => {
    const names = Array.from({ length: 300_000 }, (_, n) => n.toString(36));
    const began = performance.now();
    expect(repeatedName(names, new Set())).to.equal(undefined);
    // Comparing each name with all others would take minutes.
    expect(performance.now() - began).to.be.lessThan(5_000);
  });

  it('count as a header with several values only if these differ', () => {
    const name = 'authorization';
    expect(hasSeveralValues(['Authorization', 'a', 'Host', 'b'], name)).to.equal(false);
    expect(hasSeveralValues(['Authorization', 'a', 'AUTHORIZATION', 'a'], name)).to.equal(false);
    expect(hasSeveralValues(['Authorization', 'a', 'Host', 'b', 'authorization', ''], name)).to.equal(true);
  });
});
