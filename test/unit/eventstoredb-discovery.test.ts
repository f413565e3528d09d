/** If no node of a cluster can be found any longer, this is a reason to retry, but never to end the process. */
import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { Server, ServerCredentials, type ServerWritableStream, status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { LogClient } from '#src/events/eventstoredb/client.ts';
import type { Answers } from '#src/events/eventstoredb/library.ts';
import { readStream } from '#src/events/eventstoredb/messages.ts';
import { Unavailable } from '#src/events/store.ts';
import { eventually } from '#test/support/process.ts';

type Reading = ServerWritableStream<ReadReq, ReadResp>;

/** A node that says that it is the leader for as long as the test wants, and never answers reads. */
class Node {
  readonly server = new Server();
  readonly reading: Reading[] = [];
  leads = true;
  /** If true, the node accepts queries about the cluster but answers none, like a frozen node. */
  silent = false;
  /** Number of unanswered queries about the cluster. */
  refused = 0;
  port = 0;

  constructor() {
    this.server.addService(gossipService.GossipService, {
      read: (
        _call: unknown,
        answer: (error: object | null, info?: InstanceType<typeof gossip.ClusterInfo>) => void,
      ) => {
        if (this.silent) return undefined;
        if (this.leads) return answer(null, this.#cluster());
        this.refused += 1;
        return answer({ code: status.UNAVAILABLE, details: 'no cluster' });
      },
    });
    this.server.addService(streamsService.StreamsService, {
      read: (call: Reading) => void this.reading.push(call),
    } as never);
  }

  async start(): Promise<void> {
    this.port = await new Promise((resolve, reject) =>
      this.server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
        error === null ? resolve(port) : reject(error),
      ),
    );
  }

  /** Ends one of the reads as a disappearing node does. */
  break(index: number): void {
    this.reading[index]?.emit('error', { code: status.UNAVAILABLE, details: 'going away' });
  }

  #cluster(): InstanceType<typeof gossip.ClusterInfo> {
    const place = new gossip.EndPoint().setAddress('127.0.0.1').setPort(this.port);
    const member = new gossip.MemberInfo()
      .setState(gossip.MemberInfo.VNodeState.LEADER)
      .setIsAlive(true)
      .setHttpEndPoint(place);
    return new gossip.ClusterInfo().setMembersList([member]);
  }
}

const broken = (call: Answers | undefined): Promise<void> =>
  new Promise((resolve) => call?.once('error', () => resolve()));

describe('the client of EventStoreDB without a cluster to be found', () => {
  it('fails calls, ends no process, and finds the cluster again', async () => {
    const node = new Node();
    await node.start();
    const seeds = `127.0.0.1:${node.port},127.0.0.1:1`;
    const client = new LogClient(
      `esdb://${seeds}?tls=false&maxDiscoverAttempts=3&discoveryInterval=50`,
      5_000,
    );
    const rejections: unknown[] = [];
    const note = (reason: unknown): void => void rejections.push(reason);
    const before = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', note);
    try {
      const request = readStream('any', 'forwards', undefined, 1);
      const calls = [await client.read(request), await client.read(request)];
      for (const call of calls) call.on('error', () => undefined);
      await eventually(() => node.reading.length === 2);
      node.leads = false;
      const first = broken(calls[0]);
      node.break(0);
      await first;
      const looking = client.read(request).then(
        () => 'it was sent',
        (error: unknown) => String(error),
      );
      await eventually(() => node.refused > 0);
      // The second read breaks while the cluster is still being searched for.
      const second = broken(calls[1]);
      node.break(1);
      await second;
      expect(await looking).to.contain('Failed to discover');
      await new Promise((resolve) => setImmediate(resolve));
      expect(rejections).to.deep.equal([]);
      node.leads = true;
      const again = await client.read(request);
      again.on('error', () => undefined);
      await eventually(() => node.reading.length === 3);
      node.break(2);
    } finally {
      process.off('unhandledRejection', note);
      for (const listener of before) process.on('unhandledRejection', listener);
      await client.close();
      node.server.forceShutdown();
    }
  });

  it('keeps nobody waiting beyond the deadline while the nodes do not answer', async () => {
    const nodes = [new Node(), new Node()];
    for (const node of nodes) {
      node.silent = true;
      await node.start();
    }
    const seeds = nodes.map(({ port }) => `127.0.0.1:${port}`).join();
    const client = new LogClient(`esdb://${seeds}?tls=false`, 300);
    const request = readStream('any', 'forwards', undefined, 1);
    const began = performance.now();
    try {
      const calls = [
        client.read(request),
        client.follow(request),
        client.appendLine(),
        client.tombstone('any'),
      ];
      for (const outcome of await Promise.allSettled(calls)) {
        expect(outcome.status).to.equal('rejected');
        if (outcome.status === 'rejected') expect(outcome.reason).to.be.instanceOf(Unavailable);
      }
    } finally {
      await client.close();
      for (const { server } of nodes) server.forceShutdown();
    }
    // A query may take five seconds, and up to ten queries are sent to a cluster.
    expect(performance.now() - began).to.be.lessThan(4_000);
  });
});
