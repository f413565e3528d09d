/** How much of the installation needs an operator now: shown in the title of every screen of operators, and in their menu. */
import { signal } from '@preact/signals';

/** Their number; 0 while it isn't known, and for everybody else. */
export const urgentNeeds = signal(0);
