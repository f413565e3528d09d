/**
 * Guests: OAuth clients that nobody registered here. They are known by the URL of their metadata document
 * (draft-ietf-oauth-client-id-metadata-document), and belong to an organization and project of the installation that
 * have no members, no keys and no records.
 */

/** Ids of the organization and project of guests; the same on every installation. */
export const GUESTS = { organization: 'org_guests', project: 'proj_guests' } as const;

/** Tells whether a client id is the URL of a metadata document. */
export function isGuestId(clientId: string): boolean {
  return /^https?:\/\//.test(clientId);
}
