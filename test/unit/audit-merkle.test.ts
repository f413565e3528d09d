import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { MerkleTree } from '#src/audit/merkle.ts';

const rootOf = (leaves: readonly string[]): string => {
  const tree = new MerkleTree();
  for (const leaf of leaves) tree.add(leaf);
  return tree.root();
};

/** Returns the root as defined in RFC 9162, section 2.1.1. */
function asDefined(leaves: readonly string[]): Buffer {
  const sha256 = (...parts: readonly (Buffer | string)[]): Buffer => {
    const hash = createHash('sha256');
    for (const part of parts) hash.update(part);
    return hash.digest();
  };
  const [only] = leaves;
  if (only === undefined) return sha256();
  if (leaves.length === 1) return sha256(Buffer.of(0), only);
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  return sha256(Buffer.of(1), asDefined(leaves.slice(0, k)), asDefined(leaves.slice(k)));
}

describe('the Merkle root', () => {
  it('is that of the test vectors of Certificate Transparency', () => {
    const leaves = ['', '\x00', '\x10', ' !', '01', '@ABC', 'PQRSTUVW', '`abcdefghijklmno'];
    const roots = leaves.map((_, n) => rootOf(leaves.slice(0, n + 1)));
    expect(roots).to.deep.equal([
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
      'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
      '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
      'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
      '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
    ]);
  });

  it('is that of the definition, however many leaves there are', () => {
    expect(rootOf([])).to.equal(asDefined([]).toString('hex'));
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 70 }), (leaves) => {
        expect(rootOf(leaves)).to.equal(asDefined(leaves).toString('hex'));
      }),
    );
  });
});
