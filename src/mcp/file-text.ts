/**
 * Extracts text from a document's bytes, for models. PDFs are read in a separate thread, so that a hostile PDF can't block the
 * service.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { isPdf, readPlainText } from './plain-text.ts';

/** How long reading a PDF may take, in ms. */
const PDF_MS = 20_000;

const PDF_MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };

const READ_PDF = `
const { parentPort, workerData } = require('node:worker_threads');
import(workerData.library)
  .then(({ extractText }) => extractText(workerData.bytes, { mergePages: false }))
  .then(({ text }) => parentPort.postMessage(text.join('\\n\\n')));`;

/**
 * Returns the text in the bytes; undefined if they contain no readable text.
 * @param mediaType with its parameters
 */
export async function readFileText(mediaType: string, bytes: Buffer): Promise<string | undefined> {
  return isPdf(mediaType) ? readPdf(bytes) : readPlainText(mediaType, bytes);
}

/** Returns the text of a PDF; undefined if the PDF has no text or can't be read. */
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
