/** Serves the files that the documentation's pages load: their styles, and the script for the forms that send requests. */
import { readFileSync } from 'node:fs';

/** A file with its headers. */
export interface Asset {
  readonly type: string;
  readonly body: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  'annal.css': 'text/css; charset=utf-8',
  'reference.css': 'text/css; charset=utf-8',
  'reference.js': 'text/javascript; charset=utf-8',
};

const read = new Map<string, Asset>();

/** Returns a file by name; undefined if it doesn't exist. Files are read once, on demand. */
export function assetNamed(name: string): Asset | undefined {
  const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
  if (type === undefined) return undefined;
  const asset = read.get(name) ?? { type, body: readFileSync(new URL(`./browser/${name}`, import.meta.url)) };
  read.set(name, asset);
  return asset;
}
