/** The pages in Spanish. */
import type { Wording } from './language.ts';

export const es: Wording = {
  // Every page
  'shell.language': 'Idioma',
  'shell.error': 'No se puede continuar',
};
