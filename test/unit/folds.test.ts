/** Folds accept all events of their own kind of stream, and no others. */
import { expect } from 'chai';
import { APPLICATION } from '#commands/application/state.ts';
import { type Fold, Stream } from '#commands/kernel/kernel.ts';
import { ORGANIZATION } from '#commands/organization/state.ts';
import { PROJECT } from '#commands/project/state.ts';
import { RESOURCES } from '#commands/resource/state.ts';
import { SANDBOX } from '#commands/sandbox/state.ts';
import { WEBHOOK } from '#commands/webhook/state.ts';
import { CATALOG, type DomainEvent } from '#src/events/catalog.ts';
import { newEvents } from '#src/events/codec.ts';
import { ForeignEvent, isStreamName } from '#src/events/streams.ts';
import { atOnce } from '#src/shared/load/slices.ts';

const FOLDS: readonly Fold<unknown>[] = [APPLICATION, ORGANIZATION, PROJECT, RESOURCES, SANDBOX, WEBHOOK];
const HEAD = { revision: 0, hash: 'f'.repeat(64) };

const trusted: DomainEvent = { type: 'ApplicationTrusted', data: { trusted: true } };
const finalized: DomainEvent = {
  type: 'DocumentFinalized',
  data: { id: 'i', patient: 'p', version: 1, content_type: 't', size: 1, sha256: 'aa', blob: 'b' },
};

describe('folds', () => {
  it('have names of their own, by which their states are cached', () => {
    expect(new Set(FOLDS.map(({ name }) => name))).to.have.property('size', FOLDS.length);
  });

  it('read streams of every kind that the catalogue has', () => {
    const kinds = new Set<string>(FOLDS.flatMap((fold) => fold.kinds.map((kind) => `${kind}-`)));
    const named = new Set(Object.values(CATALOG).flatMap(({ streams }) => streams.split(', ')));
    expect([...kinds].sort()).to.deep.equal([...named].sort());
    for (const kind of kinds) expect(isStreamName(`${kind}1`), kind).to.equal(true);
  });

  it('refuse an event that is not of its kind of stream, and leave the stream as it was', () => {
    for (const [fold, name, event] of [
      [PROJECT, 'project-1', trusted],
      [WEBHOOK, 'webhook-1', trusted],
      [RESOURCES, 'directory-1-sandbox', finalized],
    ] as [Fold<unknown>, string, DomainEvent][]) {
      const stream = new Stream(fold, name);
      expect(() => stream.evolve(HEAD, 1, undefined, event))
        .to.throw(ForeignEvent)
        .with.property('message')
        .that.contains(event.type)
        .and.contains(name);
      expect(stream.revision).to.equal(-1);
      expect(() => atOnce(newEvents(name, [{ id: 'e', at: 1, event }], METADATA)), 'to be written').to.throw(
        ForeignEvent,
      );
    }
    new Stream(RESOURCES, 'record-1').evolve(HEAD, 1, undefined, finalized);
  });

  it('do not read streams of other kinds', () => {
    expect(() => new Stream(PROJECT, 'organization-1')).to.throw(TypeError, /organization-1/);
  });
});

const METADATA = { request_id: 'req_1', command_id: 'c', credential: { kind: 'system' } } as const;
