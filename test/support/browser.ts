/**
 * Starts a real browser for tests: the Chromium at ANNAL_TEST_BROWSER, or otherwise the Chromium in a package for Linux on
 * x64. For other platforms there is no such package, so browser tests are skipped.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { someOf } from './scale.ts';

/**
 * The looks in which pages are checked: each theme and each size once, or every combination in `npm run prove`. Pictures of
 * all looks need the latter.
 */
export const LOOKS = someOf(
  [
    { colorScheme: 'light', size: 'desktop', viewport: { width: 1440, height: 900 } },
    { colorScheme: 'dark', size: 'phone', viewport: { width: 390, height: 844 } },
    { colorScheme: 'dark', size: 'desktop', viewport: { width: 1440, height: 900 } },
    { colorScheme: 'light', size: 'phone', viewport: { width: 390, height: 844 } },
  ] as const,
  2,
);

/**
 * Starts a browser; returns undefined if no browser is available.
 * @throws Error if the browser doesn't start
 */
export async function openBrowser(): Promise<Browser | undefined> {
  const executablePath = process.env.ANNAL_TEST_BROWSER || (await packaged());
  if (executablePath === undefined) return undefined;
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}

/** Unpacks the browser once per user of this machine. Later and concurrent runs use the same file. */
async function packaged(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const packed = join(
    dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))),
    '../../bin/chromium.br',
  );
  const { size, mtimeMs } = await stat(packed);
  const folder = join(tmpdir(), `annal-test-browser-${process.getuid?.() ?? 0}`);
  const program = join(folder, `chromium-${size}-${Math.floor(mtimeMs)}`);
  if (await stat(program).catch(() => undefined)) return program;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = `${program}.${process.pid}`;
  await pipeline(createReadStream(packed), createBrotliDecompress(), createWriteStream(draft));
  await chmod(draft, 0o700);
  await rename(draft, program).catch(() => rm(draft, { force: true }));
  return program;
}

/** Saves a picture of a page in the folder ANNAL_TEST_PICTURES, for people who want to look at it. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.ANNAL_TEST_PICTURES;
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

/** Returns where to save a printed page: in `picture`'s folder, if it is set. */
export function savedAs(name: string): { readonly path?: string } {
  const folder = process.env.ANNAL_TEST_PICTURES;
  return folder === undefined ? {} : { path: `${folder}/${name}` };
}

/**
 * Returns the WCAG 2.2 A and AA rules that a page violates, with the element, according to
 * https://github.com/dequelabs/axe-core.
 */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found: unknown = await page.evaluate(
    `axe.run(document, {
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
        resultTypes: ['violations'],
        preload: false,
      })
      .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`,
  );
  return Array.isArray(found) ? found.map(String) : ['the page could not be checked'];
}
