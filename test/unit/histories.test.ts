/** The history checker finds everything that can't be explained by any order of the calls, and nothing else. */
import { expect } from 'chai';
import { type Call, findFaults } from '#test/support/histories.ts';

const NEVER = Number.POSITIVE_INFINITY;
const call = (isWrite: boolean, began: number, ended: number, value?: number): Call => ({
  ...{ object: 'a', isWrite, began, ended, value },
});
const write = (began: number, ended: number, value?: number): Call => call(true, began, ended, value);
const read = (began: number, ended: number, value?: number): Call => call(false, began, ended, value);

describe('a history of calls', () => {
  it('has no fault if an order explains it', () => {
    expect(
      findFaults([
        write(0, 10, 1),
        read(5, 8, 0),
        read(5, 8, 1),
        read(11, 12, 1),
        // Its response never arrived: the write may have been done at any time, or not at all.
        write(20, NEVER),
        read(21, 22, 2),
        write(30, 40, 3),
        write(30, 41, 4),
        read(50, 51, 4),
        read(35, 60, 3),
      ]),
    ).to.deep.equal([]);
    expect(findFaults([write(0, 1, 1), write(2, NEVER), read(3, 4, 1), read(5, 6, 1)])).to.deep.equal([]);
  });

  for (const [name, calls] of [
    ['a read that lacks an acknowledged write', [write(0, 10, 1), read(11, 12, 0)]],
    ['a read that goes back behind another', [write(0, NEVER), read(1, 2, 1), read(3, 4, 0)]],
    ['a read of what nobody had begun to write', [write(0, 10, 1), read(11, 12, 2), write(13, 14, 2)]],
    ['a total that lacks an acknowledged write', [write(0, 1), write(0, 2), read(3, 4, 1)]],
    ['two writes with one version', [write(0, 10, 1), write(0, 10, 1)]],
    ['a write that repeats a version that was seen', [write(0, 1, 1), write(2, 3, 1)]],
  ] as const)
    it(`has a fault: ${name}`, () => {
      expect(findFaults(calls)).to.not.deep.equal([]);
    });

  it('is checked for each object apart', () => {
    expect(findFaults([write(0, 1, 1), { ...read(2, 3, 0), object: 'b' }])).to.deep.equal([]);
  });
});
