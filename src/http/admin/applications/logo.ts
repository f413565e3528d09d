/**
 * Reads a logo for an application's branding: base64 of a PNG, JPEG or WebP file. The file's type is detected from its
 * content.
 */
import { createHash } from 'node:crypto';
import { fileTypeFromBuffer } from 'file-type';
import { Refusal } from '#src/shared/refusal.ts';

/** The maximum size of a logo, in bytes. */
export const MAX_LOGO_BYTES = 64 * 1_024;

const TYPES = ['image/png', 'image/jpeg', 'image/webp'] as const;

/** A logo sent in a request. */
export interface UploadedLogo {
  /** hex */
  readonly sha256: string;
  readonly content_type: (typeof TYPES)[number];
  readonly content: Buffer;
}

/**
 * Reads a logo.
 * @param base64 already checked to be base64
 * @throws Refusal invalid (422) for more than 64 kB, or for content of another type, whatever type it claims to be
 */
export async function readLogo(base64: string): Promise<UploadedLogo> {
  const content = Buffer.from(base64, 'base64');
  if (content.byteLength > MAX_LOGO_BYTES)
    throw wrong(`logo must be at most ${MAX_LOGO_BYTES} bytes; this one has ${content.byteLength}`);
  const found = await fileTypeFromBuffer(content);
  const content_type = TYPES.find((type) => type === found?.mime);
  if (content_type === undefined) throw wrong('logo must be a PNG, JPEG or WebP file');
  return { sha256: createHash('sha256').update(content).digest('hex'), content_type, content };
}

const wrong = (diagnostics: string): Refusal =>
  new Refusal('invalid', { code: 'value', diagnostics, expression: 'logo' });
