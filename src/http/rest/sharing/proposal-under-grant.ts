/** Shows an application under a grant the proposals that it has made. */
import type { ProposalRow } from '#queries/consents/proposals.ts';
import { isResourceType } from '#src/fhir/types.ts';
import { categoriesFor } from '#src/shared/access/access.ts';
import type { Granted } from '#src/shared/access/caller.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { proposalContent, proposalView, versionUnderGrant } from '../../api/proposal-view.ts';
import type { RestRequest } from '../record.ts';

/**
 * Returns a proposal as its application sees it: without stored values that it may not read, and without references into other
 * records, even in the differences.
 */
export async function viewUnder(
  request: RestRequest,
  granted: Granted,
  row: ProposalRow,
): Promise<JsonObject> {
  const { services } = request;
  const { record } = granted;
  const { resource, base } = proposalContent(row);
  const within = async (stored: JsonObject) => (await versionUnderGrant(services, record, stored)).shown;
  return proposalView(row, {
    resource: await within(resource),
    base: base !== undefined && (await seesBase(request, granted, row)) ? await within(base) : undefined,
  });
}

/**
 * Returns whether an application may read the version that a proposal changes: as in a vread, the grant must cover the current
 * version too (docs/spec/decisions.md, section 9, "Categories").
 */
async function seesBase(
  { services: { queries }, caller }: RestRequest,
  { access }: Granted,
  { resource_type: type, resource_id: id, base_version: version }: ProposalRow,
): Promise<boolean> {
  if (!isResourceType(type) || id === null || version === null) return false;
  const limits = categoriesFor(access, type, 'r');
  if (limits === 'all') return true;
  return limits.length > 0 && (await queries.vread(caller, type, id, version)) !== undefined;
}
