/** Renders a history as a self-contained, printable page without scripts or external resources. */

import { Html, html } from '#src/shared/html.ts';
import { type Json, printJson } from '#src/shared/json/json.ts';
import type { Difference } from '#src/shared/json/json-difference.ts';
import { credentialLabel } from './names.ts';
import type { Occurrence } from './occurrences.ts';
import { writeSentence } from './provenances.ts';
import { approvedBy, type History, type Version } from './versions.ts';

/** The subject of the page. */
export interface ReportSubject {
  /** `Type/id`. */
  readonly resource: string;
  /** True if the page covers the patient's whole record. */
  readonly record: boolean;
  /** When the page was generated. */
  readonly time: string;
  /** The stream that the page was generated from. */
  readonly stream: string;
}

const STYLE = new Html(`
  body { font: 15px/1.45 system-ui, sans-serif; color: #1c2430; background: #fff; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
  h1 { font-size: 1.5rem; } h2 { font-size: 1.05rem; margin: 0; overflow-wrap: anywhere; }
  code, td { font-family: ui-monospace, monospace; font-size: .85rem; overflow-wrap: anywhere; }
  article { border: 1px solid #d5dbe3; border-radius: 6px; margin: 1rem 0; padding: .8rem 1rem; break-inside: avoid-page; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .5rem 0; }
  dt { color: #5a6675; } dd { margin: 0; overflow-wrap: anywhere; }
  table { border-collapse: collapse; width: 100%; table-layout: fixed; }
  td, dd { white-space: pre-wrap; }
  th, td { border-top: 1px solid #e4e8ee; padding: .25rem .5rem; text-align: left; vertical-align: top; }
  td.before { background: #fdf1f0; } td.after { background: #eef8f0; }
  .operation { font-size: .75rem; border: 1px solid; border-radius: 4px; padding: 0 .35rem; }
  .holds { color: #19692c; } .broken { color: #a3160c; font-weight: bold; }
  @media print { body { margin: 0; max-width: none; } }
`);

/** Yields the page in pieces. */
export function* reportPage(
  { resource, record, time, stream }: ReportSubject,
  { versions, access, events, brokenAt, head }: History,
): Generator<string> {
  const title = `${record ? 'Record of' : 'History of'} ${resource}`;
  const chain =
    brokenAt === undefined
      ? html`<p class="holds">The hash chain of all ${events} events is intact.</p>
<p>Stream <code>${stream}</code>, revision ${head?.revision ?? ''}, hash <code>${head?.hash ?? ''}</code>.</p>`
      : html`<p class="broken">Hash mismatch in <code>${stream}</code> at revision ${brokenAt}: this event or the one before it was altered.</p>`;
  yield html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${title}</h1>
<p>Versions: ${versions.length}, the newest first; resources: ${new Set(versions.map((version) => version.resource)).size}. Made ${time}.</p>
${chain}
`.text;
  if (access.length > 0) yield html`<h2>Who may use the record</h2>\n`.text;
  for (const occurrence of access) yield accessArticle(occurrence).text;
  if (access.length > 0) yield html`<h2>Versions</h2>\n`.text;
  for (const version of versions) yield article(version).text;
  yield '</body>\n</html>\n';
}

function article(version: Version): Html {
  const { resource, operation, recorded, differences, credential, on_behalf_of: behalf } = version;
  const facts: [string, string | null][] = [
    ['Recorded', recorded],
    ['Author', listed(version.author_type, version.author_name, version.author)],
    ['Acting as', listed(version.acting_as_name, version.acting_as)],
    ['On behalf of', behalf === null ? null : [behalf.display, behalf.reference].filter(Boolean).join(', ')],
    ['Source system', version.source_system],
    ['Origin id', version.origin_id],
    ...version.provenances.map((said): [string, string] => ['Why', writeSentence(said)]),
    [
      'Credential',
      listed(
        credentialLabel(credential),
        credential.kind,
        credential.key_id,
        credential.application,
        credential.project,
        credential.environment,
      ),
    ],
    ['Approved by', approvedBy(version) ?? null],
    ['Request', version.request_id],
    ['Transaction', version.transaction_id],
    ['Provenance', version.provenance],
    ['Event', `revision ${version.revision}`],
  ];
  return html`<article>
<h2>${resource}, version ${version.version} <span class="operation">${operation}</span></h2>
<dl>${facts.flatMap(([name, value]) => (value === null ? [] : html`<dt>${name}</dt><dd>${value}</dd>`))}</dl>
${changes(operation, differences)}
</article>
`;
}

/** Returns the page's article about a link or grant, with all the data in its event. */
function accessArticle({ type, recorded, credential, request_id, revision, data }: Occurrence): Html {
  const facts: [string, string][] = [
    ['Recorded', recorded],
    ...Object.entries(data).map(([name, value]): [string, string] => [name, joinTexts(value)]),
    ['Credential', listed(credentialLabel(credential), credential.kind, credential.issuer) ?? ''],
    ['Request', request_id],
    ['Event', `revision ${revision}`],
  ];
  return html`<article>
<h2>${type}</h2>
<dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
</article>
`;
}

/** Returns a member of an event's data as text: a string unchanged, a list with one item per line. */
function joinTexts(value: unknown): string {
  if (Array.isArray(value)) return value.map(joinTexts).join('\n');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Joins the parts that are present, without duplicates; null if there are none. */
function listed(...parts: readonly (string | null)[]): string | null {
  return [...new Set(parts.filter((part) => part !== null))].join(', ') || null;
}

function changes(operation: Version['operation'], found: readonly Difference[]): Html {
  if (operation === 'DELETE') return html`<p>Deleted: searches no longer find it.</p>`;
  if (found.length === 0) return html`<p>No element changed.</p>`;
  const rows = found.map(
    ({ path, before, after }) =>
      html`<tr><td>${path}</td><td class="before">${printValue(before)}</td><td class="after">${printValue(after)}</td></tr>\n`,
  );
  return html`<table>
<thead><tr><th>Element</th><th>Before</th><th>After</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`;
}

/**
 * Returns a value as JSON, so that the string "1.5" looks different from the number 1.5, and an empty string from a missing
 * value.
 */
function printValue(value: Json | undefined): string {
  return value === undefined ? '' : printJson(value);
}
