/** The pages in Arabic. */
import type { Wording } from './language.ts';

export const ar: Wording = {
  // Every page
  'shell.language': 'اللغة',
  'shell.error': 'تتعذّر المتابعة',
};
