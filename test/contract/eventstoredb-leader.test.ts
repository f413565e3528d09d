/**
 * The search for the leader when it freezes or dies. Runs against a fake cluster node that says which node leads, and against
 * a real cluster if there is one (`docs/eventstoredb.md`).
 */
import { once } from 'node:events';
import { createServer, type Server as Silent, type Socket } from 'node:net';
import gossip from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossipMessages from '@eventstore/db-client/generated/gossip_pb.js';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { Server, ServerCredentials, type ServerWritableStream } from '@grpc/grpc-js';
import { expect } from 'chai';
import { LogClient } from '#src/events/eventstoredb/client.ts';
import { persist } from '#src/events/eventstoredb/faults.ts';
import { readAll } from '#src/events/eventstoredb/messages.ts';
import { type EventStore, Unavailable } from '#src/events/store.ts';
import { CLUSTER, CONTROLLED, control } from '#test/support/event-store-control.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { newEvents, newStream } from './event-store/events.ts';
import { eraseContractStreams } from './eventstoredb-erase.ts';
import { openStore } from './eventstoredb-store.ts';

const { ClusterInfo, EndPoint, MemberInfo } = gossipMessages;

describe('the leader of a cluster of EventStoreDB', () => {
  let peer: Peer;
  let frozen: Silent;
  const sockets = new Set<Socket>();
  beforeEach(async () => {
    peer = await startPeer();
    frozen = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1');
    await once(frozen, 'listening');
  });
  afterEach(() => {
    peer.server.forceShutdown();
    frozen.close();
    for (const socket of sockets) socket.destroy();
  });

  const open = (answerWithin: number) => new LogClient(peer.url, answerWithin);
  const read = async (client: LogClient): Promise<void> => {
    for await (const _ of await client.read(readAll('backwards', undefined, 1))) break;
  };

  it('is looked for again when it takes connections and says nothing', async () => {
    const address = frozen.address();
    peer.leader = typeof address === 'object' && address !== null ? address.port : 0;
    // All deadlines except the connection's are much later.
    const client = open(60_000);
    const error = await read(client).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Unavailable);
    expect(String(error)).to.include('connection');
    peer.leader = peer.port;
    await read(client);
    expect(peer.asked).to.equal(2);
    await client.close();
  });

  it('is looked for again when it has missed a deadline', async () => {
    const next = await startPeer();
    peer.leader = peer.port;
    peer.answers = false;
    const client = open(200);
    const error = await read(client).catch((reason: unknown) => reason);
    expect(error, String(error)).to.be.instanceOf(Error);
    peer.leader = next.port;
    await persist(() => read(client));
    expect([next.reads, peer.asked]).to.deep.equal([1, 2]);
    next.server.forceShutdown();
    await client.close();
  });

  itAtFullSize(
    'may be missing for the time of an election: calls are repeated for three seconds',
    async () => {
      const began = performance.now();
      const away = async (ms: number): Promise<void> => {
        if (performance.now() - began < ms) throw new Unavailable('no leader');
      };
      await persist(() => away(2_000));
      const tried = performance.now();
      const error = await persist(() => away(60_000)).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(Unavailable);
      expect(performance.now() - tried).to.be.greaterThan(2_500);
    },
  );
});

(CONTROLLED && CLUSTER ? describe : describe.skip)('the leader of a real cluster of EventStoreDB', () => {
  let store: EventStore;
  after(async () => {
    await store.close();
    await eraseContractStreams();
  });

  const write = async (): Promise<boolean> =>
    store.append(newStream(), 'none', newEvents()).then(
      () => true,
      (error: unknown) => {
        expect(error).to.be.instanceOf(Unavailable);
        return false;
      },
    );

  it('is left when it freezes: writes go on at the next one long before it thaws', async () => {
    store = await openStore('keepAliveInterval=2000&keepAliveTimeout=2000');
    expect(await write()).to.equal(true);
    await control('freeze');
    try {
      const began = performance.now();
      while (!(await write())) expect(performance.now() - began).to.be.lessThan(30_000);
    } finally {
      await control('thaw');
      await control('start');
    }
  });
});

/** A fake cluster node. */
interface Peer {
  readonly server: Server;
  readonly port: number;
  readonly url: string;
  /** The port of the node that this peer names as the leader. */
  leader: number;
  /** If false, the peer leaves reads unanswered. */
  answers: boolean;
  /** How often the peer was asked which node leads. */
  asked: number;
  reads: number;
}

async function startPeer(): Promise<Peer> {
  const server = new Server();
  const members = () => {
    const member = new MemberInfo();
    member.setIsAlive(true);
    member.setState(MemberInfo.VNodeState.LEADER);
    const endPoint = new EndPoint();
    endPoint.setAddress('127.0.0.1');
    endPoint.setPort(peer.leader);
    member.setHttpEndPoint(endPoint);
    const info = new ClusterInfo();
    info.setMembersList([member]);
    return info;
  };
  server.addService(gossip.GossipService, {
    read: (_: unknown, answer: (error: null, info: object) => void) => {
      peer.asked += 1;
      answer(null, members());
    },
  });
  server.addService(streams.StreamsService, {
    read: (call: ServerWritableStream<unknown, unknown>) => {
      peer.reads += 1;
      if (peer.answers) call.end();
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  // Two seeds: if there were only one, the library would treat it as the address of a single node.
  const url = `esdb://127.0.0.1:${port},127.0.0.1:${port}?tls=false`;
  const peer: Peer = { server, port, url, leader: port, answers: true, asked: 0, reads: 0 };
  return peer;
}
