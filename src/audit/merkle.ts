/**
 * Computes the Merkle tree hash of RFC 9162, section 2.1.1 (the same as in RFC 6962), over leaves that are added one after
 * another.
 */
import { createHash } from 'node:crypto';

/** Prefixes for leaves and nodes, so that a node can't be mistaken for a leaf. */
const [LEAF, NODE] = [Buffer.of(0), Buffer.of(1)];

function node(left: Buffer, right: Buffer): Buffer {
  return createHash('sha256').update(NODE).update(left).update(right).digest();
}

/** A tree that keeps one hash for each complete subtree: at most one hash per level. */
export class MerkleTree {
  /** Roots of complete subtrees, the largest first. */
  readonly #subtrees: { readonly root: Buffer; readonly leaves: number }[] = [];
  #leaves = 0;

  get leaves(): number {
    return this.#leaves;
  }

  /** Adds the next leaf, as UTF-8. */
  add(leaf: string): void {
    this.#leaves += 1;
    let root: Buffer = createHash('sha256').update(LEAF).update(leaf).digest();
    let leaves = 1;
    for (let last = this.#subtrees.at(-1); last?.leaves === leaves; last = this.#subtrees.at(-1)) {
      this.#subtrees.pop();
      root = node(last.root, root);
      leaves *= 2;
    }
    this.#subtrees.push({ root, leaves });
  }

  /** Returns the hash over all leaves, 64 hex digits. If there are no leaves, it is the hash of the empty string. */
  root(): string {
    const root = this.#subtrees
      .map((subtree) => subtree.root)
      .reduceRight<Buffer | undefined>(
        (right, left) => (right === undefined ? left : node(left, right)),
        undefined,
      );
    return (root ?? createHash('sha256').digest()).toString('hex');
  }
}
