/** Defines the commands about consent that HTTP needs. */
import type { Consents } from '#commands/consent/consents.ts';
import type { ProjectInvitations } from '#commands/consent/invitations.ts';

/** Commands by persons, applications and projects about grants, links and invitations. */
export type ConsentCommands = Consents & ProjectInvitations;
