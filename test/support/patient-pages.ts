/** A person on their own pages, over HTTP: signs in at the development issuer and opens record pages. */
import type { InProcess } from './in-process.ts';
import { PageVisitor, type Shown } from './page-visitor.ts';

/** Signs a person in; the visitor is then on the first page. */
export async function patientVisitor({ url }: Pick<InProcess, 'url'>, email: string): Promise<PageVisitor> {
  const visitor = new PageVisitor(url);
  await visitor.open('/connections');
  await visitor.submit({ email });
  return visitor;
}

/** Returns a page's text without markup, with each run of white space replaced by one space. */
export function wordsOf({ text }: Shown): string {
  return text
    .replace(/<style>[\s\S]*?<\/style>/g, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#39;/g, '’')
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ');
}

/** Returns the targets of a page's links that contain a text, with `&amp;` decoded. */
export function linksOf({ text }: Shown, part: string): string[] {
  return [...text.matchAll(/<a [^>]*href="([^"]+)"/g)]
    .map(([, href = '']) => href.replaceAll('&amp;', '&'))
    .filter((href) => href.includes(part));
}
