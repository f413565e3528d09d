/**
 * Stores documents in an S3-compatible bucket: `documents/<patient>/<document>/<blob>`. A small document takes one request;
 * larger ones are sent in parts of 8 MB, which become visible together at the end.
 */
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { Refusal, unavailable } from '#src/shared/refusal.ts';
import type { BlobKey, ByteRange, DirectDownload, DirectUpload, DocumentStore, ListedBlob } from './store.ts';
import { BlobMissing } from './store.ts';

/** The bucket, and how to connect to it. */
export interface S3Settings {
  readonly bucket: string;
  readonly region: string;
  /** For services other than Amazon's. */
  readonly endpoint?: string | undefined;
  /** Default: the credentials that the SDK finds in its environment. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}

const PREFIX = 'documents/';
/** The size of a part in bytes; S3 accepts 5 MB to 5 GB, and up to 10,000 parts. */
const PART = 8 * 1024 * 1024;

/** The adapter. */
export class S3Store implements DocumentStore {
  readonly #client: S3Client;
  readonly #bucket: string;

  constructor({ bucket, region, endpoint, credentials }: S3Settings) {
    this.#bucket = bucket;
    this.#client = new S3Client({
      region,
      // The SDK's own checksums would be sent as trailers, which some services don't understand.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
      ...(credentials === undefined ? {} : { credentials }),
    });
  }

  async put(key: BlobKey, source: AsyncIterable<Buffer>): Promise<void> {
    const parts = inParts(source);
    const first = await parts.next();
    const second = await parts.next();
    const object = this.#object(key);
    if (second.done) {
      const Body = first.done ? Buffer.alloc(0) : first.value;
      await asked(this.#client.send(new PutObjectCommand({ ...object, Body })));
    } else if (!first.done) await this.#putParts(key, [first.value, second.value], parts);
  }

  async get(key: BlobKey, range?: ByteRange): Promise<Readable> {
    const Range = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` };
    const { Body } = await asked(
      this.#client.send(new GetObjectCommand({ ...this.#object(key), ...Range })),
      key,
    );
    if (Body instanceof Readable) return Body;
    throw new BlobMissing(key);
  }

  async size(key: BlobKey): Promise<number | undefined> {
    try {
      const { ContentLength } = await asked(this.#client.send(new HeadObjectCommand(this.#object(key))), key);
      return ContentLength;
    } catch (error) {
      if (error instanceof BlobMissing) return undefined;
      throw error;
    }
  }

  async remove(key: BlobKey): Promise<void> {
    await asked(this.#client.send(new DeleteObjectCommand(this.#object(key))));
  }

  async removeRecord(patient: string): Promise<void> {
    for await (const key of this.#listed(`${PREFIX}${patient}/`)) await this.remove(key);
  }

  list(): AsyncGenerator<ListedBlob> {
    return this.#listed(PREFIX);
  }

  /** If the service can't list unfinished uploads, a rule on the bucket must remove them. */
  async removeUnfinished(before: Date): Promise<void> {
    await this.#abortUnfinished(before).catch((error: unknown) => {
      if (!isNotImplemented(error)) throw error;
    });
  }

  async #abortUnfinished(before: Date): Promise<void> {
    const Bucket = this.#bucket;
    for (
      let marker: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {};
      marker !== undefined;
    ) {
      const command: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({
        Bucket,
        Prefix: PREFIX,
        ...marker,
      });
      const page = await asked(this.#client.send(command));
      for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
        if (Initiated === undefined || Initiated >= before) continue;
        await asked(this.#client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })));
      }
      const { NextKeyMarker, NextUploadIdMarker } = page;
      const more = page.IsTruncated === true && NextKeyMarker !== undefined;
      marker = more
        ? {
            KeyMarker: NextKeyMarker,
            ...(NextUploadIdMarker === undefined ? {} : { UploadIdMarker: NextUploadIdMarker }),
          }
        : undefined;
    }
  }

  /** Returns a URL for a single upload. Its signature requires `If-None-Match: *`, so a second upload would fail. */
  async upload(key: BlobKey, contentType: string, expiresInSeconds: number): Promise<DirectUpload> {
    const command = new PutObjectCommand({ ...this.#object(key), IfNoneMatch: '*' });
    const url = await getSignedUrl(this.#client, command, {
      expiresIn: expiresInSeconds,
      unhoistableHeaders: new Set(['if-none-match']),
    });
    return { url, headers: { 'Content-Type': contentType, 'If-None-Match': '*' } };
  }

  download(key: BlobKey, told: DirectDownload): Promise<string> {
    const command = new GetObjectCommand({
      ...this.#object(key),
      ResponseContentType: told.contentType,
      ResponseContentDisposition: told.disposition,
    });
    return getSignedUrl(this.#client, command, { expiresIn: told.expiresInSeconds });
  }

  close(): void {
    this.#client.destroy();
  }

  #object({ patient, document, blob }: BlobKey): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: `${PREFIX}${patient}/${document}/${blob}` };
  }

  async #putParts(key: BlobKey, begun: readonly Buffer[], rest: AsyncGenerator<Buffer, void>): Promise<void> {
    const object = this.#object(key);
    const { UploadId } = await asked(this.#client.send(new CreateMultipartUploadCommand(object)));
    try {
      const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
      const send = async (Body: Buffer): Promise<void> => {
        const PartNumber = Parts.length + 1;
        const command = new UploadPartCommand({ ...object, UploadId, PartNumber, Body });
        const { ETag } = await asked(this.#client.send(command));
        Parts.push({ PartNumber, ETag });
      };
      for (const part of begun) await send(part);
      for await (const part of rest) await send(part);
      const MultipartUpload = { Parts };
      await asked(
        this.#client.send(new CompleteMultipartUploadCommand({ ...object, UploadId, MultipartUpload })),
      );
    } catch (error) {
      // Leftovers are removed later by `removeUnfinished`.
      await this.#client
        .send(new AbortMultipartUploadCommand({ ...object, UploadId }))
        .catch(() => undefined);
      throw error;
    }
  }

  async *#listed(prefix: string): AsyncGenerator<ListedBlob> {
    for (let token: string | undefined, more = true; more; more = token !== undefined) {
      const command: ListObjectsV2Command = new ListObjectsV2Command({
        Bucket: this.#bucket,
        Prefix: prefix,
        ContinuationToken: token,
      });
      const page = await asked(this.#client.send(command));
      for (const { Key = '', LastModified, Size = 0 } of page.Contents ?? []) {
        const [patient, document, blob] = Key.slice(PREFIX.length).split('/');
        if (patient === undefined || document === undefined || blob === undefined) continue;
        yield { patient, document, blob, modified: LastModified ?? new Date(), bytes: Size };
      }
      token = page.NextContinuationToken;
    }
  }
}

/** Returns whether S3 returned 501. */
function isNotImplemented(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof S3ServiceException && cause.$metadata.httpStatusCode === 501;
}

/** Yields a source in parts of equal size; the last part may be shorter. */
async function* inParts(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const chunk of source) {
    held.push(chunk);
    size += chunk.length;
    while (size >= PART) {
      const all = Buffer.concat(held);
      yield all.subarray(0, PART);
      const left = Buffer.from(all.subarray(PART));
      held = [left];
      size = left.length;
    }
  }
  if (size > 0) yield Buffer.concat(held);
}

/**
 * Awaits a response from S3.
 * @param key the requested blob; BlobMissing is thrown if it doesn't exist
 * @throws Refusal unavailable (503) for every other failure
 */
async function asked<T>(answer: Promise<T>, key?: BlobKey): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
    if (key !== undefined && status === 404) throw new BlobMissing(key, { cause: error });
    const refusal = unavailable('the document store is unavailable; retry in a second', 5);
    refusal.cause = error;
    throw refusal;
  }
}
