/** The interfaces of consent's write side that HTTP needs. */
import type { Consents } from '#commands/consent/consents.ts';
import type { ProjectInvitations } from '#commands/consent/invitations.ts';

/** Commands of persons, applications and projects about grants, links and invitations. */
export type ConsentCommands = Consents & ProjectInvitations;
