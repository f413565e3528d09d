import { expect } from 'chai';
import { forgetParsed, parsedOnce, type Version } from '#projections/parsed.ts';

const version = (n: number, text = ''): Version => ({
  type: 'ResourceCreated',
  resourceType: 'Observation',
  resourceId: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  version: 1,
  body: JSON.stringify({ resourceType: 'Observation', note: [{ text }] }),
});

describe('bodies that are parsed once', () => {
  beforeEach(forgetParsed);

  it('are left by who comes first, and taken away by who comes second', () => {
    const event = version(1);
    const first = parsedOnce(event);
    expect(parsedOnce(event)).to.equal(first);
    const third = parsedOnce(event);
    expect(third).to.eql(first);
    expect(third).to.not.equal(first);
  });

  it('are those of the event, not of another that says the same', () => {
    expect(parsedOnce(version(1))).to.not.equal(parsedOnce(version(1)));
  });

  it('make room for what follows, the oldest first, and are forgotten when a record is erased', () => {
    const long = 'x'.repeat(300_000);
    const events = Array.from({ length: 8 }, (_, n) => version(n, long));
    const firsts = events.map(parsedOnce);
    // Newest first, because each event that isn't cached is cached again and takes up space.
    const kept = events
      .map((_, n) => n)
      .filter((n) => parsedOnce(events[7 - n] ?? version(0)) === firsts[7 - n]);
    expect(kept).to.eql([0, 1, 2, 3, 4, 5]);
    const last = version(9);
    const before = parsedOnce(last);
    forgetParsed();
    expect(parsedOnce(last)).to.not.equal(before);
  });
});
