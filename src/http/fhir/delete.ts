/** delete, conditional delete: https://hl7.org/fhir/R4/http.html#delete; `_purge`: docs/spec/interface.md, sections 3 and 4.2 */
import type { ResourceType } from '#src/fhir/types.ts';
import { mayRead } from '#src/shared/access/caller.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Answer } from '../answer/answer.ts';
import { readIfMatch, refuseConditions } from '../answer/conditions.ts';
import { versionHeaders } from './read.ts';
import type { FhirWrite } from './request.ts';
import { readTarget } from './target.ts';
import { writtenTime } from './written.ts';

/**
 * Answers 204, also for a resource that is deleted, never existed or belongs to another project; `_purge=true` removes
 * a Patient's whole record.
 * @throws Refusal 400 403 404 405 412
 */
export async function remove(request: FhirWrite, type: ResourceType, id?: string): Promise<Answer> {
  const { service, command } = request;
  if (purges(request, type, id) && id !== undefined) {
    refuseConditions(request.header, { ifMatch: false, instead: 'a purge takes no condition' });
    const { position } = await service.commands.purge(command, id);
    if (position !== undefined) await service.freshness.settle(position);
    return { status: 204, headers: {} };
  }
  const target = readTarget(request, id);
  const { result, position } = await service.commands.remove(
    command,
    type,
    target,
    readIfMatch(request.header),
  );
  if (position !== undefined) await service.freshness.settle(position);
  // A version would reveal to a caller without `read` whether the resource existed.
  const headers =
    result === undefined || !mayRead(request.caller, type)
      ? {}
      : versionHeaders(result.version, writtenTime(result));
  return { status: 204, headers };
}

function purges({ query }: FhirWrite, type: ResourceType, id: string | undefined): boolean {
  const value = query.get('_purge');
  if (value === null || value === '' || value === 'false') return false;
  if (value !== 'true') throw badPurge('_purge must be true or false');
  if (type === 'Patient' && id !== undefined) return true;
  throw badPurge('_purge is supported for a single Patient only: DELETE Patient/<id>?_purge=true');
}

function badPurge(diagnostics: string): Refusal {
  return new Refusal('malformed', { code: 'value', diagnostics, expression: 'query._purge' });
}
