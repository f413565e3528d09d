import type { Written } from '#commands/command.ts';

/** A position in the event log, as returned by commands. HTTP only passes it to the code that waits for read models. */
export type Position = NonNullable<Written<unknown>['position']>;
