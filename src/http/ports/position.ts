import type { Written } from '#commands/command.ts';

/** A position in the event log, as commands return it. HTTP only hands it on to what waits for read models. */
export type Position = NonNullable<Written<unknown>['position']>;
