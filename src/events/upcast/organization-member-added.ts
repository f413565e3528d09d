/** Upcasters for OrganizationMemberAdded. */
import type { EventData } from './upcaster.ts';

/** Upcasts `OrganizationMemberAdded` to version 2, which added the role `auditor`. No earlier member has this role. */
export function organizationMemberAddedTo2(data: EventData): EventData {
  return data;
}
