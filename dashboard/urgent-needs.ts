/** The number of needs that require an operator now, shown in the title of every operators' screen and in the menu. */
import { signal } from '@preact/signals';

/** The number of urgent needs; 0 while it is unknown, and for anyone who isn't an operator. */
export const urgentNeeds = signal(0);
