/** The pages in French. */
import type { Wording } from './language.ts';

export const fr: Wording = {
  // Every page
  'shell.language': 'Langue',
  'shell.error': 'Impossible de continuer',
};
