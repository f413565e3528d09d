/** The pages in German. */
import type { Wording } from './language.ts';

export const de: Wording = {
  // Every page
  'shell.language': 'Sprache',
  'shell.error': 'Hier geht es nicht weiter',
};
