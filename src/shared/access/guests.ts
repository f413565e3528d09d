/**
 * Guests: OAuth clients that aren't registered here. They are identified by the URL of their metadata document
 * (draft-ietf-oauth-client-id-metadata-document). They belong to an organization and a project of the installation, neither of
 * which has members, keys or records.
 */

/** Ids of the guests' organization and project, which are the same on every installation. */
export const GUESTS = { organization: 'org_guests', project: 'proj_guests' } as const;

/** Returns whether a client id is the URL of a metadata document. */
export function isGuestId(clientId: string): boolean {
  return /^https?:\/\//.test(clientId);
}
