/** All tools, in the order in which they are listed. */
import type { Tool } from './tool.ts';
import { getContext } from './tools/context.ts';
import { listDocuments, readDocument } from './tools/documents.ts';
import { findPatientByName } from './tools/find-patient.ts';
import { comparePeriods, findPatterns, series } from './tools/insight.ts';
import { lookupCode } from './tools/lookup-code.ts';
import { myProposals, proposeChange } from './tools/proposals.ts';
import { readResource } from './tools/read-resource.ts';
import { searchRecord } from './tools/search-record.ts';
import { timeline } from './tools/timeline.ts';
import { whatMayIDo } from './tools/what-may-i-do.ts';

const TOOLS: readonly Tool[] = [
  findPatientByName,
  getContext,
  searchRecord,
  readResource,
  timeline,
  series,
  findPatterns,
  comparePeriods,
  lookupCode,
  listDocuments,
  readDocument,
  whatMayIDo,
  proposeChange,
  myProposals,
];

/**
 * Returns the tools for a caller.
 * @param hasGrant whether the caller acts for only one patient
 */
export function toolsFor(hasGrant: boolean): readonly Tool[] {
  return TOOLS.filter((tool) => tool.for === 'all' || (tool.for === 'grant') === hasGrant);
}
