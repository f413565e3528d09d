/** Shared links to a person's record, as tests create and open them. */
import { inflateRawSync } from 'node:zlib';
import { compactDecrypt } from 'jose';
import { z } from 'zod';
import type { InProcess } from './in-process.ts';
import { type MyAnswer, me } from './me.ts';

/** A link as `/me` shows it. */
export const sharedLinkSchema = z.strictObject({
  id: z.string().regex(/^shl_[\w-]{22,26}$/),
  status: z.enum(['active', 'revoked', 'expired', 'closed']),
  label: z.string().nullable(),
  content: z.string(),
  flag: z.enum(['', 'L', 'P', 'LP']),
  shlink: z
    .string()
    .regex(/^shlink:\/[\w-]+$/)
    .nullable(),
  viewer_url: z.string().nullable(),
  created_at: z.string(),
  expires_at: z.string(),
  access_count: z.int(),
  last_access_at: z.string().nullable(),
});

/** A link. */
export type ShownLink = z.output<typeof sharedLinkSchema>;

/** The content of a link's payload. */
export const payloadSchema = z.strictObject({
  url: z.url().max(128),
  key: z.string().regex(/^[\w-]{43}$/),
  exp: z.int(),
  flag: z.string().optional(),
  label: z.string().max(80).optional(),
  v: z.literal(1),
});

/**
 * Returns a link's payload.
 * @throws Error if the link has ended
 */
export function payloadOf({ shlink }: Pick<ShownLink, 'shlink'>): z.output<typeof payloadSchema> {
  if (shlink === null) throw new Error('the link has ended');
  return payloadSchema.parse(
    JSON.parse(Buffer.from(shlink.slice('shlink:/'.length), 'base64url').toString('utf8')),
  );
}

/**
 * Creates a link.
 * @throws Error if the response isn't 201
 */
export async function share(
  service: Pick<InProcess, 'url' | 'pool'>,
  email: string,
  record: string,
  body: object = { content: 'summary' },
): Promise<ShownLink> {
  const { status, json } = await me(service, email, `/patients/${record}/shl`, 'POST', body);
  if (status !== 201) throw new Error(`POST shl: ${status} ${JSON.stringify(json)}`);
  return sharedLinkSchema.parse(json);
}

/** Ends a link. */
export function revoke(
  service: Pick<InProcess, 'url' | 'pool'>,
  email: string,
  record: string,
  id: string,
): Promise<MyAnswer> {
  return me(service, email, `/patients/${record}/shl/${id}/revoke`, 'POST');
}

/** A manifest, or the response that was returned instead. */
export interface OpenedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: {
    readonly files?: readonly {
      readonly contentType: string;
      readonly embedded?: string;
      readonly location?: string;
    }[];
    readonly remainingAttempts?: number;
  };
}

/** Requests a manifest. */
export async function openLink(
  url: string,
  body: object = { recipient: 'Dr Lind' },
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenedAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, json: JSON.parse(await response.text()) };
}

/**
 * Opens a link and reads its content as a recipient does.
 * @param at where to request the link's URLs; by default, at the URLs themselves
 */
export async function readContent(
  link: Pick<ShownLink, 'shlink'>,
  { recipient = 'Dr Lind', embeddedLengthMax = 1_000_000 } = {},
  at: (url: string) => string = (url) => url,
): Promise<string> {
  const { url, key } = payloadOf(link);
  const { json } = await openLink(at(url), { recipient, embeddedLengthMax });
  const [file] = json.files ?? [];
  const jwe = file?.embedded ?? (await (await fetch(at(String(file?.location)))).text());
  const { plaintext } = await compactDecrypt(jwe, Buffer.from(key, 'base64url'), {
    maxDecompressedLength: 100_000_000,
  });
  const isPlain = plaintext[0] === '{'.charCodeAt(0);
  return (isPlain ? Buffer.from(plaintext) : inflateRawSync(plaintext)).toString();
}
