/** The checkpoint file and the key that signs it. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import {
  accessName,
  checkpointLines,
  leavesIn,
  readCheckpoint,
  recordOfAccessLog,
  type StreamLeaf,
} from '#src/audit/checkpoint.ts';
import { existingKey, KEY_FILE, KeyFault, publicKey, type SigningKey, signingKey } from '#src/audit/key.ts';
import { MerkleTree } from '#src/audit/merkle.ts';
import { BadFile, signedLine } from '#src/audit/statement.ts';
import { linesIn } from '#src/cli/import/lines.ts';
import { joined, newKey, otherSpellings, pemFile, tamperings } from '#test/support/audit-files.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';

const LEAVES: readonly StreamLeaf[] = [
  { stream: 'directory-p-sandbox', revision: 0, hash: 'a'.repeat(64) },
  { stream: 'project-p', revision: 12, hash: 'b'.repeat(64) },
  { stream: 'record-1', revision: 3, hash: 'c'.repeat(64) },
];

async function* iterate<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

async function* lines(bytes: string | Buffer): AsyncGenerator<string | undefined> {
  for await (const { text } of linesIn(Readable.from([Buffer.from(bytes)]))) yield text;
}

async function failure(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (error instanceof BadFile || error instanceof KeyFault) return error.message;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('a checkpoint file', () => {
  let key: SigningKey;

  const write = (leaves: readonly StreamLeaf[] = LEAVES, by = key): Promise<string> =>
    joined(
      checkpointLines(
        { position: '0000000000000021', events: 21, leaves: iterate(leaves) },
        '2026-03-01T10:00:00.000000Z',
        by,
        () => undefined,
      ),
    );

  before(async () => {
    key = await newKey();
  });
  after(removeTemporaryFolders);

  it('is read as it was written', async () => {
    const text = await write();
    const { statement, signer } = await readCheckpoint(lines(text), key);
    expect(statement).to.include({ streams: 3, events: 21, time: '2026-03-01T10:00:00.000000Z' });
    expect(signer.id).to.equal(key.id);
    const leaves: StreamLeaf[] = [];
    for await (const leaf of leavesIn(lines(text))) leaves.push(leaf);
    expect(leaves).to.deep.equal(LEAVES);
    expect((await readCheckpoint(lines(await write([])), key)).statement.streams).to.equal(0);
  });

  it('counts streams and access logs', async () => {
    const record = '018f0000-0000-7000-8000-000000000001';
    const log = { stream: accessName(record), revision: 7, hash: 'd'.repeat(64) };
    const text = await write([log, ...LEAVES]);
    const { statement } = await readCheckpoint(lines(text), key);
    expect(statement).to.include({ version: 2, streams: 3, access_logs: 1 });
    expect(recordOfAccessLog(log.stream)).to.equal(record);
    expect(LEAVES.map(({ stream }) => recordOfAccessLog(stream))).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
  });

  /** Returns a file as earlier versions wrote it. */
  const first = (leaves: readonly StreamLeaf[], more: object = {}): string => {
    const tree = new MerkleTree();
    const file = leaves.map((leaf) => JSON.stringify(leaf));
    for (const line of file) tree.add(line);
    const said = { time: '2026-03-01T10:00:00.000000Z', position: '0000000000000021', events: 21 };
    const statement = {
      type: 'annal-checkpoint',
      version: 1,
      ...said,
      streams: leaves.length,
      root: tree.root(),
    };
    return [...file, signedLine({ ...statement, ...more }, key), ''].join('\n');
  };

  it('is read in its first version, which had no access logs', async () => {
    const { statement } = await readCheckpoint(lines(first(LEAVES)), key);
    expect(statement).to.include({ version: 1, streams: 3 });
    const mismatch = 'its lines differ from the lines that were signed';
    const log = {
      stream: accessName('018f0000-0000-7000-8000-000000000001'),
      revision: 7,
      hash: 'd'.repeat(64),
    };
    for (const file of [
      first([log, ...LEAVES]),
      first(LEAVES, { version: 2, access_logs: 1 }),
      first([log, ...LEAVES], { version: 2, access_logs: 0 }),
    ])
      expect(await failure(() => readCheckpoint(lines(file), key))).to.equal(mismatch);
    for (const more of [{ version: 2 }, { version: 3 }, { access_logs: 0 }])
      expect(await failure(() => readCheckpoint(lines(first(LEAVES, more)), key))).to.contain(
        'not a checkpoint statement',
      );
  });

  it('betrays every change of one byte that changes what it says', async () => {
    const bytes = Buffer.from(await write(LEAVES.slice(0, 2)));
    for (const { at, how, altered } of tamperings(bytes)) {
      // A file without the final line feed has the same content.
      if (altered.equals(bytes) || altered.equals(bytes.subarray(0, -1))) continue;
      await failure(() => readCheckpoint(lines(altered), key)).catch(() => {
        throw new Error(`${how} at ${at} was not found`);
      });
    }
    for (const spelling of otherSpellings(bytes.toString('utf8'))) {
      expect(await failure(() => readCheckpoint(lines(spelling), key))).to.contain('signature');
    }
  });

  it('betrays lines that are missing, added or out of order', async () => {
    const [a = '', b = '', c = '', end = ''] = (await write()).split('\n');
    const extra = `{"stream":"record-2","revision":0,"hash":"${'d'.repeat(64)}"}`;
    for (const [said, ...file] of [
      ['its lines differ from the lines that were signed', a, c, end],
      ['its lines differ from the lines that were signed', a, b, c, extra, end],
      ['line 3 is out of order', a, c, b, end],
      ['line 2 is out of order', a, a, b, c, end],
      ['the last line, with the signature, is missing', a, b, c],
      ['line 5 comes after the signature', a, b, c, end, a],
      ['line 1 is not a checkpoint line', '{"resourceType":"Patient"}', end],
    ]) {
      expect(await failure(() => readCheckpoint(lines(`${file.join('\n')}\n`), key))).to.contain(said);
    }
  });

  it('says which key it was signed with when that is not the one expected', async () => {
    const other = await newKey();
    expect(await failure(async () => readCheckpoint(lines(await write(LEAVES, other)), key)))
      .to.contain(other.id)
      .and.to.contain(key.id);
  });
});

describe('the key that signs', () => {
  after(removeTemporaryFolders);

  it('is made once, for its owner alone', async () => {
    const place = { dataDir: join(await temporaryFolder(), 'data'), file: undefined };
    expect(await existingKey(place)).to.equal(undefined);
    const both = await Promise.all([signingKey(place), signingKey(place)]);
    const again = await existingKey(place);
    expect(new Set([...both, again].map((key) => key?.id))).to.have.property('size', 1);
    expect((await stat(join(place.dataDir, KEY_FILE))).mode & 0o777).to.equal(0o600);
  });

  it('can be given, if it is of Ed25519', async () => {
    const dataDir = await temporaryFolder();
    const given = { dataDir, file: await pemFile('ed25519') };
    expect(await signingKey(given)).to.have.property('id', (await existingKey(given))?.id);
    expect(await existingKey({ dataDir, file: undefined })).to.equal(undefined);
    const wrong = { dataDir, file: await pemFile('ed448') };
    expect(await failure(() => signingKey(wrong))).to.contain('contains a key of another type');
    expect(await failure(() => signingKey({ dataDir, file: '/nowhere/key.pem' }))).to.contain(
      '/nowhere/key.pem',
    );
  });

  it('is named by its JWK thumbprint', () => {
    // RFC 8037, appendix A.3
    expect(publicKey('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo').id).to.equal(
      'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
    );
    for (const text of ['', 'x', '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURp']) {
      expect(() => publicKey(text)).to.throw(KeyFault);
    }
  });
});
