import type { Written } from '#commands/command.ts';

/** A position in the event log, as commands return it. HTTP only passes it to the code that waits for read models. */
export type Position = NonNullable<Written<unknown>['position']>;
