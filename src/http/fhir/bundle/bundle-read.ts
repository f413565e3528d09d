/** Handles a GET or HEAD entry in a Bundle like a separate request, using the interaction that its URL names. */
import { STATUS_CODES } from 'node:http';
import type { ReadEntry } from '#src/fhir/bundle.ts';
import { parseQuery } from '#src/shared/query-text.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time/time.ts';
import type { Answer } from '../../answer/answer.ts';
import { requireTypes } from '../../grant/opening.ts';
import { describeRead } from '../../key-reads.ts';
import { splitPath } from '../../path.ts';
import { refuseMoment } from '../as-of.ts';
import { type FhirRequest, type FindInteraction, openingAt } from '../request.ts';

/**
 * Returns the JSON text of the response entry.
 * @throws Refusal in the same cases as the interaction
 */
export async function readEntry(
  request: FhirRequest,
  entry: ReadEntry,
  find: FindInteraction,
): Promise<string> {
  const mark = entry.url.indexOf('?');
  const path = mark < 0 ? entry.url : entry.url.slice(0, mark);
  const segments = splitPath(path);
  const interaction = find(segments, entry.method);
  if (interaction.kind === 'open') {
    const { body } = interaction.run(request.service);
    return `{"resource":${body},"response":{"status":"200 OK"}}`;
  }
  if (interaction.kind !== 'read') {
    throw new Refusal('invalid', {
      code: 'not-supported',
      diagnostics: 'a GET entry must be a read, a search, a history, an operation or metadata',
    });
  }
  const conditions: Record<string, string | undefined> = {
    'if-none-match': entry.ifNoneMatch,
    'if-modified-since': entry.ifModifiedSince,
  };
  const { service, caller, budget, pass, reads } = request;
  const query = parseQuery(mark < 0 ? '' : entry.url.slice(mark + 1));
  if (interaction.takesAsOf !== true) refuseMoment(query);
  const asked = {
    service,
    caller,
    query: pass?.edge.queryOfEntry(query) ?? query,
    header: (name: string) => conditions[name],
    prefer: request.prefer.handling === undefined ? {} : { handling: request.prefer.handling },
    budget,
    ...(pass === undefined ? {} : { pass }),
  };
  if (pass === undefined) requireTypes(caller, interaction.grantToken);
  const run = (): Promise<Answer> => interaction.run(asked, segments);
  const answer = await (pass !== undefined
    ? pass.run(openingAt(interaction, segments), run)
    : reads !== undefined
      ? reads.runFhir(describeRead(openingAt(interaction, segments), segments), run)
      : run());
  const response = {
    status: `${answer.status} ${STATUS_CODES[answer.status] ?? ''}`,
    ...(answer.headers.ETag === undefined ? {} : { etag: answer.headers.ETag }),
    ...(answer.lastUpdated === undefined ? {} : { lastModified: toInstant(answer.lastUpdated) }),
  };
  const shown = entry.method === 'HEAD' || answer.body === undefined ? '' : `"resource":${answer.body},`;
  return `{${shown}"response":${JSON.stringify(response)}}`;
}
