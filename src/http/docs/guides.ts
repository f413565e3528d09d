/**
 * Finds the files in `docs/` that the service shows. It does so once, at the first request, and reads no files from anywhere
 * else.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { firstHeading } from './markdown.ts';

const FOLDER = fileURLToPath(new URL('../../../docs/', import.meta.url));
/** Programs that people download with the guides, listed by the names under which they are shown. */
const PROGRAMS = ['verify-export.mjs'];
const PROGRAM_FOLDER = fileURLToPath(new URL('../../../bin/', import.meta.url));
const TEXT = 'text/plain; charset=utf-8';

/** A page that is made from a Markdown file. */
export interface Guide {
  /** Path below `/docs/guides`: `fhir`, `decisions/0001-…`; empty for the index. */
  readonly name: string;
  /** Path below `docs/`, with slashes. */
  readonly file: string;
  readonly title: string;
  readonly markdown: string;
}

/** Another file that guides link to or show, such as an example or a picture. */
export interface Attachment {
  /** Media type. */
  readonly type: string;
  readonly body: Buffer;
}

const ENDING = '.md';
const SHOWN = /\.(?:json|yaml|hl7|mjs|png)$/;

let guides: ReadonlyMap<string, Guide> | undefined;
let attachments: ReadonlyMap<string, Attachment> | undefined;

/** Returns all guides by name. */
export function allGuides(): ReadonlyMap<string, Guide> {
  guides ??= new Map(
    filesIn(FOLDER)
      .filter((file) => file.endsWith(ENDING))
      .map((file) => {
        const markdown = readFileSync(FOLDER + file, 'utf8');
        const name = guideName(file);
        return [name, { name, file, title: firstHeading(markdown) ?? name, markdown }];
      }),
  );
  return guides;
}

/** Returns the guide with the given name; undefined if it doesn't exist. */
export function guideNamed(name: string): Guide | undefined {
  return allGuides().get(name);
}

/** Returns a file that belongs to the guides, by its path; undefined if it doesn't exist. */
export function attachmentNamed(file: string): Attachment | undefined {
  attachments ??= new Map([
    ...filesIn(FOLDER)
      .filter((each) => SHOWN.test(each))
      .map((each): [string, Attachment] => [
        each,
        { type: each.endsWith('.png') ? 'image/png' : TEXT, body: readFileSync(FOLDER + each) },
      ]),
    ...PROGRAMS.map((each): [string, Attachment] => [
      each,
      { type: TEXT, body: readFileSync(PROGRAM_FOLDER + each) },
    ]),
  ]);
  return attachments.get(file);
}

/** Returns the page name for a Markdown file: a folder's `README.md` is the folder's page. */
function guideName(file: string): string {
  return file.slice(0, -ENDING.length).replace(/(?:^|\/)README$/, '');
}

/**
 * Returns the path below `/docs/guides` of the page or file that a guide links to; undefined if the link leads outside
 * `docs/`, where the service has nothing to show.
 * @param from the path of the guide's file below `docs/`
 * @param path the link's path, without its fragment
 */
export function targetIn(from: string, path: string): string | undefined {
  const base = 'http://docs.invalid/root/';
  const url = new URL(path, base + from);
  if (!url.href.startsWith(base)) return undefined;
  const file = decodeURIComponent(url.href.slice(base.length));
  if (!file.endsWith(ENDING)) return attachmentNamed(file) === undefined ? undefined : `/${file}`;
  const name = guideName(file);
  if (guideNamed(name) === undefined) return undefined;
  return name === '' ? '' : `/${name}`;
}

/** Returns the paths of all files below a folder, in a fixed order; symbolic links are not followed. */
function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    if (entry.isFile()) return [entry.name];
    if (!entry.isDirectory()) return [];
    return filesIn(`${folder}${entry.name}/`).map((name) => `${entry.name}/${name}`);
  });
}
