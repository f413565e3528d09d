/**
 * Arrays in PostgreSQL's binary format. The text format would have every body escaped here and unescaped there;
 * in binary a body is copied (array_send in PostgreSQL's arrayfuncs.c).
 */

const OID = { text: 25, int4: 23, uuid: 2950 } as const;
const HEADER_BYTES = 20;

function header(type: keyof typeof OID, length: number, elementBytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + length * 4 + elementBytes);
  buffer.writeInt32BE(1, 0); // dimensions
  buffer.writeInt32BE(0, 4); // no nulls
  buffer.writeInt32BE(OID[type], 8);
  buffer.writeInt32BE(length, 12);
  buffer.writeInt32BE(1, 16); // lower bound
  return buffer;
}

/** Encodes a `text[]` parameter of at least one element. */
export function textArray(values: readonly string[]): Buffer {
  const sizes = values.map((value) => Buffer.byteLength(value));
  const buffer = header(
    'text',
    values.length,
    sizes.reduce((sum, size) => sum + size, 0),
  );
  let at = HEADER_BYTES;
  values.forEach((value, index) => {
    at = buffer.writeInt32BE(sizes[index] ?? 0, at);
    at += buffer.write(value, at);
  });
  return buffer;
}

/** Encodes an `int4[]` parameter of at least one element. */
export function intArray(values: readonly number[]): Buffer {
  const buffer = header('int4', values.length, values.length * 4);
  let at = HEADER_BYTES;
  for (const value of values) {
    at = buffer.writeInt32BE(4, at);
    at = buffer.writeInt32BE(value, at);
  }
  return buffer;
}

/** Encodes a `uuid[]` parameter of at least one element, from UUIDs with hyphens. */
export function uuidArray(values: readonly string[]): Buffer {
  const buffer = header('uuid', values.length, values.length * 16);
  let at = HEADER_BYTES;
  for (const value of values) {
    at = buffer.writeInt32BE(16, at);
    at += buffer.write(value.replaceAll('-', ''), at, 'hex');
  }
  return buffer;
}
