/**
 * Handles delete and conditional delete: https://hl7.org/fhir/R4/http.html#delete; `_purge`: docs/spec/interface.md, sections
 * 3 and 4.2
 */
import type { ResourceType } from '#src/fhir/types.ts';
import { mayRead } from '#src/shared/access/caller.ts';
import type { Answer } from '../answer/answer.ts';
import { readIfMatch, refuseConditions } from '../answer/conditions.ts';
import { versionHeaders } from './read.ts';
import type { FhirWrite } from './request.ts';
import { badPurge, readPurge, readTarget } from './target.ts';
import { writtenTime } from './written.ts';

/**
 * Returns 204, even for a resource that is deleted, never existed or belongs to another project; `_purge=true` removes a
 * Patient's whole record.
 * @throws Refusal 400 403 404 405 412
 */
export async function remove(request: FhirWrite, type: ResourceType, id?: string): Promise<Answer> {
  const { service, command } = request;
  const { purges, rest } = readPurge(request.query);
  if (purges) {
    if (type !== 'Patient' || id === undefined)
      throw badPurge('_purge is supported for a single Patient only: DELETE Patient/<id>?_purge=true');
    refuseConditions(request.header, { ifMatch: false, instead: 'a purge takes no condition' });
    const { position } = await service.commands.purge(command, id);
    if (position !== undefined) await service.freshness.settle(position);
    return { status: 204, headers: {} };
  }
  const target = readTarget({ query: rest }, id);
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
