/** Upcasters for OrganizationMemberAdded. */
import type { EventData } from './upcaster.ts';

/** Upcasts `OrganizationMemberAdded` to version 2, which added the role `auditor`; nobody had it before. */
export function organizationMemberAddedTo2(data: EventData): EventData {
  return data;
}
