import { expect } from 'chai';
import { sharedBuffers } from '#src/database/settings.ts';

const GB = 2 ** 30;

describe('memory of the embedded PostgreSQL', () => {
  it('is a sixteenth of the machine, or of the container where that has less', () => {
    expect(sharedBuffers(8 * GB, 0)).to.equal(512);
    expect(sharedBuffers(8 * GB, 4 * GB)).to.equal(256);
    expect(sharedBuffers(8 * GB, 2 ** 64)).to.equal(512);
  });

  it('is never less than PostgreSQL takes by itself, nor more than a gigabyte', () => {
    expect(sharedBuffers(8 * GB, GB / 2)).to.equal(128);
    expect(sharedBuffers(256 * GB, 0)).to.equal(1_024);
  });
});
