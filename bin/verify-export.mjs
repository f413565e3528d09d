#!/usr/bin/env node
/**
 * Checks a signed export of a record or another stream (`annal export`), of a resource's history, or of a search's results
 * (POST /admin/projects/…/exports). This file needs only Node.js 18 or later.
 * Usage: `node bin/verify-export.mjs FILE [--key PUBLICKEY]`
 * It checks the form of every line, the hash chain over all events, the SHA-256 of the file, and the Ed25519 signature. A
 * history contains only the events of one resource: each event is checked against its own hash and the previous hash. Search
 * results contain the hashes of the versions that they show, without the versions' events. docs/audit.md says what each kind
 * proves and describes the format. Without --key, the program only reports which key signed the file: compare that key with
 * the public key that the operator has published. Files compressed with gzip are accepted. Exit codes: 0 the file is intact, 1
 * it can't be read or isn't an export, 2 the command line is wrong, 3 the file was altered.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

/** Thrown for a kind of file that this program doesn't check. */
export class OtherFile extends Error {}

/** Thrown if the file differs from the signed content. */
export class Altered extends Error {}

/**
 * Checks an export.
 * @param {Uint8Array} bytes the whole file
 * @param {string} [key] the public key that it must be signed with: 43 characters of base64url
 * @returns {{kind: string, stream?: string, resource?: string, query?: string, as_of?: string, events: number, first?: string,
 *   last?: string, time: string, key_id: string, public_key: string}} the export's content; `events`: the number of events, or
 *   of versions in search results; `first` and `last`: when the first and last events were recorded
 * @throws {OtherFile} for a checkpoint, and for a file that neither begins nor ends like an export
 * @throws {Altered} naming the line and the problem
 */
export function verifyExport(bytes, key) {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!isLikeAnnals(file)) throw new OtherFile('this is not an Annal export');
  const lines = linesIn(file);
  const [opening] = lines;
  const closing = lines.at(-1);
  if (closing?.text.startsWith('{"statement":{"type":"annal-checkpoint",'))
    throw new OtherFile('this is a checkpoint, not an export: use `annal verify --checkpoint FILE`');
  if (lines.length < 3) throw new Altered('the file has fewer than three lines: lines are missing');
  const [, kind] = /^\{"format":"annal-(export|history|search)","version":1,/.exec(opening.text) ?? [];
  if (kind === undefined) {
    written(opening, 1, ({ format, version, stream }) => ({ format, version, stream }));
    throw new Altered('line 1 is not the first line of an export, version 1');
  }
  const content = checked(() => KINDS[kind](opening, lines.slice(1, -1)));
  const { statement, id, publicKey } = signed(closing.text, lines.length, key);
  const end = `line ${lines.length}`;
  if (statement.type !== `annal-${kind}` || statement.version !== 1)
    throw new Altered(`${end}: the statement is not an ${kind} statement, version 1`);
  checked(() => content.compare(statement, end));
  const sum = createHash('sha256').update(bytes.subarray(0, closing.start)).digest('hex');
  if (statement.sha256 !== sum)
    throw new Altered(`${end}: the lines before it differ from the lines that were signed`);
  return {
    kind,
    ...content.found,
    ...(statement.as_of === undefined ? {} : { as_of: statement.as_of }),
    time: statement.time,
    key_id: id,
    public_key: publicKey,
  };
}

/**
 * Runs a check.
 * @throws {Altered} also if a member has a type that never occurs in exports
 */
function checked(check) {
  try {
    return check();
  } catch (error) {
    if (error instanceof Altered) throw error;
    throw new Altered(`a line is not as exports have it: ${error.message}`);
  }
}

/** The kinds of export. Each kind checks the lines between the first and the last, and compares them with the statement. */
const KINDS = {
  export(opening, lines) {
    const { stream } = written(opening, 1, ({ format, version, stream }) => ({ format, version, stream }));
    let hash = GENESIS;
    const times = [];
    for (const [index, line] of lines.entries()) {
      const number = index + 2;
      const event = written(line, number, ({ revision, id, type, data, metadata }) => ({
        revision,
        id,
        type,
        data,
        metadata,
      }));
      if (event.revision !== index)
        throw new Altered(
          `line ${number} has revision ${event.revision}, expected ${index}: lines are missing or out of order`,
        );
      hash = linked(hash, stream, event);
      if (hash === undefined)
        throw new Altered(`line ${number}: hash mismatch: this event or the one before it was altered`);
      times.push(JSON.parse(event.metadata).recorded_at);
    }
    return {
      found: { stream, events: times.length, first: times[0], last: times.at(-1) },
      compare(statement, end) {
        if (statement.stream !== stream)
          throw new Altered(`${end} is for ${statement.stream}, but the file is for ${stream}`);
        requireCount(statement.events, times.length, end);
        if (statement.head.hash !== hash || statement.head.revision !== times.length - 1)
          throw new Altered(`${end}: the last event differs from the one that was signed`);
      },
    };
  },

  history(opening, lines) {
    const { stream, resource } = written(opening, 1, ({ format, version, stream, resource }) => ({
      format,
      version,
      stream,
      resource,
    }));
    const id = resource.slice(resource.indexOf('/') + 1);
    const times = [];
    let last = { revision: -1, hash: GENESIS };
    let versions = 0;
    for (const [index, line] of lines.entries()) {
      const number = index + 2;
      const event = written(line, number, ({ revision, previous, id, type, data, metadata }) => ({
        revision,
        previous,
        id,
        type,
        data,
        metadata,
      }));
      if (event.revision <= last.revision) throw new Altered(`line ${number} is out of order`);
      if (event.revision === last.revision + 1 && event.previous !== last.hash)
        throw new Altered(`line ${number}: hash mismatch: this event or the one before it was altered`);
      const hash = linked(event.previous, stream, event);
      if (hash === undefined) throw new Altered(`line ${number}: hash mismatch: this event was altered`);
      last = { revision: event.revision, hash };
      const { resource_type, resource_id, version } = JSON.parse(event.data);
      if (event.type.startsWith('Resource')) {
        versions += 1;
        if (`${resource_type}/${resource_id}` !== resource || version !== versions)
          throw new Altered(`line ${number} is not version ${versions} of ${resource}: lines are missing`);
      } else if (JSON.parse(event.data).id !== id)
        throw new Altered(`line ${number} is not about ${resource}`);
      times.push(JSON.parse(event.metadata).recorded_at);
    }
    return {
      found: { stream, resource, events: times.length, first: times[0], last: times.at(-1) },
      compare(statement, end) {
        if (statement.stream !== stream || statement.resource !== resource)
          throw new Altered(`${end} is for ${statement.resource}, but the file is for ${resource}`);
        requireCount(statement.events, times.length, end);
        if (statement.head.revision < last.revision)
          throw new Altered(`${end}: the last event differs from the one that was signed`);
        if (statement.head.revision === last.revision && statement.head.hash !== last.hash)
          throw new Altered(`${end}: the last event differs from the one that was signed`);
      },
    };
  },

  search(opening, [answer, ...lines]) {
    const { query } = written(opening, 1, ({ format, version, query }) => ({ format, version, query }));
    const { bundle } = written(answer, 2, ({ bundle }) => ({ bundle }));
    const shown = shownIn(bundle);
    for (const [index, line] of lines.entries()) {
      const number = index + 3;
      const { resource, version } = written(
        line,
        number,
        ({ resource, version, stream, revision, event, hash }) => ({
          resource,
          version,
          stream,
          revision,
          event,
          hash,
        }),
      );
      if (shown[index] !== `${resource}/_history/${version}`)
        throw new Altered(`line ${number} is not about entry ${index + 1} of the answer`);
    }
    if (lines.length !== shown.length)
      throw new Altered(
        `the answer shows ${shown.length} versions, the file has ${lines.length}: lines are missing`,
      );
    return {
      found: { query, events: lines.length },
      compare(statement, end) {
        if (statement.query !== query)
          throw new Altered(`${end} is for ${statement.query}, but the file is for ${query}`);
        requireCount(statement.entries, lines.length, end);
      },
    };
  },
};

const GENESIS = '0'.repeat(64);

function requireCount(signed, found, end) {
  if (signed !== found)
    throw new Altered(`${end} says ${signed} events, the file has ${found}: lines are missing`);
}

/** Returns the versions that search results show: `Type/id/_history/n`. */
function shownIn(bundle) {
  try {
    return (JSON.parse(bundle).entry ?? [])
      .filter(({ search }) => search?.mode !== 'outcome')
      .map(({ resource: { resourceType, id, meta } }) => `${resourceType}/${id}/_history/${meta?.versionId}`);
  } catch {
    throw new Altered('line 2 is not the answer of a search');
  }
}

/** Number of bytes to read as one text: V8's longest string has 2^29 - 24 characters. */
const CHUNK = 2 ** 26;

/**
 * Returns true if a file begins like an export, or has a line that begins like the last line of an export or a
 * checkpoint.
 */
function isLikeAnnals(file) {
  const text = file.toString('latin1', 0, 1_000);
  if (
    // An export that was cut off near its beginning must be recognized too.
    ['export', 'history', 'search'].some((kind) => `{"format":"annal-${kind}",`.startsWith(text)) ||
    /^\W*\{\s*"format"\s*:\s*"annal-(?:export|history|search)"/.test(text)
  )
    return true;
  for (let at = 0; at < file.length; at += CHUNK) {
    // A line may begin in the previous chunk, so chunks overlap.
    const chunk = file.toString('latin1', Math.max(0, at - 1_000), at + CHUNK);
    if (/^\s*\{\s*"statement"\s*:\s*\{\s*"type"\s*:\s*"annal-/m.test(chunk)) return true;
  }
  return false;
}

/** Returns the lines and their offsets; every line ends with a line feed, including the last one. */
function linesIn(bytes) {
  const lines = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start);
    if (end < 0) throw new Altered('the last line has no line end: something is missing');
    lines.push({ start, text: decode(bytes.subarray(start, end), lines.length + 1) });
    start = end + 1;
  }
  return lines;
}

function decode(bytes, number) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Altered(`line ${number} is not UTF-8`);
  }
}

/** Returns the object in a line. The line must be exactly the JSON text of the members that `pick` names. */
function written({ text }, number, pick) {
  let value;
  try {
    value = pick(JSON.parse(text));
  } catch {
    throw new Altered(`line ${number} is not a JSON object`);
  }
  if (JSON.stringify(value) !== text) throw new Altered(`line ${number} is not an event of an export`);
  return value;
}

/** Returns the event's hash if it continues the chain; undefined if it doesn't. */
function linked(previous, stream, { revision, id, type, data, metadata }) {
  const [suffix, claimed] = /,"hash":"([0-9a-f]{64})"\}$/.exec(metadata) ?? [];
  if (suffix === undefined) return undefined;
  const unsealed = `${metadata.slice(0, -suffix.length)}}`;
  const hash = createHash('sha256').update(previous);
  for (const part of [stream, String(revision), id, type, data, unsealed])
    hash.update(`\n${Buffer.byteLength(part)}\n`).update(part);
  return hash.digest('hex') === claimed ? claimed : undefined;
}

/** Returns the content of the last line after checking its signature. */
function signed(text, number, expected) {
  const form =
    /^\{"statement":(\{.*\}),"key_id":"([\w-]{43})","public_key":"([\w-]{43})","signature":"([\w-]{86})"\}$/;
  const [, statement, id, publicKey, signature] = form.exec(text) ?? [];
  if (statement === undefined)
    throw new Altered(`line ${number} has no signature: lines are missing or out of order`);
  const jwk = { crv: 'Ed25519', kty: 'OKP', x: publicKey };
  const thumbprint = createHash('sha256').update(JSON.stringify(jwk)).digest('base64url');
  if (thumbprint !== id || !isCanonical(publicKey))
    throw new Altered(`line ${number} names the key ${id} but contains the key ${thumbprint}`);
  if (expected !== undefined && publicKey !== expected)
    throw new Altered(`line ${number} is signed with the key ${publicKey}, not with ${expected}`);
  const bytes = Buffer.from(signature, 'base64url');
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  if (!isCanonical(signature) || !verify(null, Buffer.from(statement), key, bytes))
    throw new Altered(`line ${number}: the signature by the key ${publicKey} is invalid`);
  return { statement: JSON.parse(statement), id, publicKey };
}

const isCanonical = (text) => Buffer.from(text, 'base64url').toString('base64url') === text;

/** Returns the file's bytes, decompressed if they begin like gzip (RFC 1952, section 2.3.1). */
function content(file) {
  const bytes = readFileSync(file);
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
}

const USAGE =
  'usage: node bin/verify-export.mjs FILE [--key PUBLICKEY]   (PUBLICKEY: 43 characters of base64url)';

function describe({ kind, stream, resource, query, as_of: at, events, first, last }) {
  const asOf = at === undefined ? '' : `, as of ${at}`;
  if (kind === 'search')
    return `the answer of ${query}${asOf}, with ${events} ${events === 1 ? 'version' : 'versions'}`;
  const counted = `${events} ${events === 1 ? 'event' : 'events'}`;
  return `${counted} of ${kind === 'history' ? `${resource} in ${stream}` : stream}, recorded ${first} to ${last}${asOf}`;
}

function main(args) {
  if (args.includes('--help')) {
    console.log(USAGE);
    return 0;
  }
  const at = args.indexOf('--key');
  const key = at < 0 ? undefined : args[at + 1];
  const files = args.filter((_, i) => at < 0 || (i !== at && i !== at + 1));
  if (files.length !== 1 || files[0].startsWith('-') || (at >= 0 && !/^[\w-]{43}$/.test(key ?? ''))) {
    console.error(USAGE);
    return 2;
  }
  const [file] = files;
  let bytes;
  try {
    bytes = content(file);
  } catch (error) {
    console.error(`${file} cannot be read: ${error.message}`);
    return 1;
  }
  try {
    const found = verifyExport(bytes, key);
    console.log(`${file} is intact: ${describe(found)}.`);
    console.log(
      `Signed ${found.time} with the key ${found.public_key}${key === undefined ? '' : ', as expected'}.`,
    );
    if (key === undefined)
      console.log(
        "Compare this key with the operator's public key, or pass that with --key: anyone can sign with their own key.",
      );
    return 0;
  } catch (error) {
    if (error instanceof OtherFile) {
      console.error(`${file}: ${error.message}`);
      return 1;
    }
    if (!(error instanceof Altered)) throw error;
    console.error(`${file} is NOT valid: ${error.message}`);
    return 3;
  }
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  process.exitCode = main(process.argv.slice(2));
