/** The pages in Norwegian Bokmål. */
import type { Wording } from './language.ts';

export const nb: Wording = {
  // Every page
  'shell.language': 'Språk',
  'shell.error': 'Vi kan ikke gå videre',
};
