/**
 * Writes and reads checkpoint files. A checkpoint has one line for the head of every stream and of every record's access log,
 * sorted by the bytes of their names, and a signed statement with the Merkle root over those lines. The file, or just its
 * root, can later prove that no history was altered. docs/audit.md describes the format. Version 1 had no access logs.
 */
import { z } from 'zod';
import type { PublicKey, SigningKey } from './key.ts';
import { MerkleTree } from './merkle.ts';
import { BadFile, parseSigned, type Signed, signedLine } from './statement.ts';

/** The head of a stream or of a record's access log (`accessName`). */
export interface StreamLeaf {
  readonly stream: string;
  /** For an access log, the number of its last entry, counted from 1. */
  readonly revision: number;
  /** 64 hex digits: the hash of the chain up to and including that event. */
  readonly hash: string;
}

/** The part of the log that a checkpoint covers. */
export interface Covered {
  /** The store's position at the time of the checkpoint. */
  readonly position: string;
  readonly events: number;
  readonly leaves: AsyncIterable<StreamLeaf>;
}

const common = {
  type: z.literal('annal-checkpoint'),
  /** The time of signing, by the signing machine's clock. */
  time: z.string(),
  position: z.string(),
  events: z.int().nonnegative(),
  streams: z.int().nonnegative(),
  root: z.string().regex(/^[0-9a-f]{64}$/),
};

const statementSchema = z.discriminatedUnion('version', [
  z.strictObject({ ...common, version: z.literal(1) }),
  z.strictObject({ ...common, version: z.literal(2), access_logs: z.int().nonnegative() }),
]);

const ACCESS = 'access-';

/** Returns the name that a checkpoint uses for a record's access log. */
export const accessName = (record: string): string => ACCESS + record;

/** Returns the record whose access log a line describes; undefined if the line describes a stream. */
export function recordOfAccessLog(stream: string): string | undefined {
  return stream.startsWith(ACCESS) ? stream.slice(ACCESS.length) : undefined;
}

/** The signed statement. */
export type CheckpointStatement = z.infer<typeof statementSchema>;

/** A checkpoint that has been read and verified. */
export interface Checkpoint {
  readonly statement: CheckpointStatement;
  readonly signer: PublicKey;
}

/**
 * Yields the lines of a checkpoint, each with its line break.
 * @param signed called with the statement when the statement's line is yielded
 */
export async function* checkpointLines(
  { position, events, leaves }: Covered,
  time: string,
  key: SigningKey,
  signed: (statement: CheckpointStatement) => void,
): AsyncGenerator<string> {
  const tree = new MerkleTree();
  let logs = 0;
  for await (const { stream, revision, hash } of leaves) {
    if (recordOfAccessLog(stream) !== undefined) logs += 1;
    const line = JSON.stringify({ stream, revision, hash });
    tree.add(line);
    yield `${line}\n`;
  }
  const statement: CheckpointStatement = {
    type: 'annal-checkpoint',
    version: 2,
    time,
    position,
    events,
    streams: tree.leaves - logs,
    access_logs: logs,
    root: tree.root(),
  };
  signed(statement);
  yield `${signedLine(statement, key)}\n`;
}

/**
 * Reads a whole checkpoint: every line, the root over the lines, and the signature.
 * @param lines without their line ends; undefined for a line whose bytes aren't text.
 * @param expected the key that must have signed the checkpoint.
 * @throws BadFile with the error.
 */
export async function readCheckpoint(
  lines: AsyncIterable<string | undefined>,
  expected: PublicKey,
): Promise<Checkpoint> {
  const tree = new MerkleTree();
  let last = '';
  let logs = 0;
  let signed: Signed | undefined;
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (signed !== undefined)
      throw new BadFile(`line ${number} comes after the signature, which must be the last line`);
    const leaf = line === undefined ? undefined : parseLeaf(line);
    if (line === undefined || leaf === undefined) {
      signed = line === undefined ? undefined : parseSigned(line, expected);
      if (signed === undefined) throw new BadFile(describeFault(line, number));
    } else {
      if (Buffer.compare(Buffer.from(last), Buffer.from(leaf.stream)) >= 0) {
        throw new BadFile(`line ${number} is out of order: streams must be sorted, each once`);
      }
      last = leaf.stream;
      if (recordOfAccessLog(leaf.stream) !== undefined) logs += 1;
      tree.add(line);
    }
  }
  if (signed === undefined) throw new BadFile('the last line, with the signature, is missing');
  const { data } = statementSchema.safeParse(JSON.parse(signed.statement));
  if (data === undefined) throw new BadFile('its signed statement is not a checkpoint statement');
  const signedLogs = data.version === 1 ? 0 : data.access_logs;
  if (data.streams !== tree.leaves - logs || signedLogs !== logs || data.root !== tree.root()) {
    throw new BadFile('its lines differ from the lines that were signed');
  }
  return { statement: data, signer: signed.signer };
}

function describeFault(line: string | undefined, number: number): string {
  return line?.startsWith('{"format":"annal-export",') === true
    ? 'it is an export, not a checkpoint; check it with node bin/verify-export.mjs'
    : `line ${number} is not a checkpoint line`;
}

/** Yields the heads of a checkpoint that `readCheckpoint` has verified. */
export async function* leavesIn(lines: AsyncIterable<string | undefined>): AsyncGenerator<StreamLeaf> {
  for await (const line of lines) {
    const leaf = parseLeaf(line ?? '');
    if (leaf !== undefined) yield leaf;
  }
}

const LEAF = /^\{"stream":("(?:[^"\\]|\\.)+"),"revision":(0|[1-9]\d{0,9}),"hash":"([0-9a-f]{64})"\}$/;

function parseLeaf(line: string): StreamLeaf | undefined {
  const [, name, revision, hash] = LEAF.exec(line) ?? [];
  if (name === undefined || hash === undefined) return undefined;
  try {
    return { stream: z.string().parse(JSON.parse(name)), revision: Number(revision), hash };
  } catch {
    return undefined;
  }
}
