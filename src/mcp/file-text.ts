/** The text of a document's bytes, for models. PDFs are read in a thread of their own, which a hostile one can't hold up. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';

/** How long a PDF may take, in ms. */
const PDF_MS = 20_000;

const PDF_MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };

const READ_PDF = `
const { parentPort, workerData } = require('node:worker_threads');
import(workerData.library)
  .then(({ extractText }) => extractText(workerData.bytes, { mergePages: false }))
  .then(({ text }) => parentPort.postMessage(text.join('\\n\\n')));`;

const TEXTUAL = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml)$)/;

/** Returns the text of bytes; undefined if they have none that can be read. @param mediaType with its parameters */
export async function readFileText(mediaType: string, bytes: Buffer): Promise<string | undefined> {
  const [type = ''] = mediaType.toLowerCase().split(/[;\s]/, 1);
  if (type === 'application/pdf') return readPdf(bytes);
  if (!TEXTUAL.test(type)) return undefined;
  const text = decode(mediaType, bytes);
  return type === 'text/html' ? stripHtml(text) : text;
}

function decode(mediaType: string, bytes: Buffer): string {
  const charset = /charset="?([\w-]+)/i.exec(mediaType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString();
  }
}

async function stripHtml(html: string): Promise<string> {
  const { htmlToText } = await import('html-to-text');
  return htmlToText(html, {
    wordwrap: false,
    limits: { maxInputLength: 5_000_000 },
    selectors: [
      { selector: 'a', options: { ignoreHref: true } },
      { selector: 'img', format: 'skip' },
    ],
  });
}

/** Returns the text of a PDF; undefined if it has none, or can't be read. */
async function readPdf(bytes: Buffer): Promise<string | undefined> {
  const library = pathToFileURL(createRequire(import.meta.url).resolve('unpdf')).href;
  const worker = new Worker(READ_PDF, {
    eval: true,
    resourceLimits: PDF_MEMORY,
    workerData: { library, bytes: new Uint8Array(bytes) },
    stdout: true,
    stderr: true,
  });
  try {
    const text = await new Promise((resolve) => {
      worker.once('message', resolve);
      worker.once('error', () => resolve(''));
      worker.once('exit', () => resolve(''));
      setTimeout(() => resolve(''), PDF_MS).unref();
    });
    const read = z.string().parse(text).trim();
    return read === '' ? undefined : read;
  } finally {
    await worker.terminate();
  }
}
