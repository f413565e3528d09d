/** Defines the language in which a record's routes respond. */
import { z } from 'zod';
import { LANGUAGES, type Language } from '../../pages/texts.ts';

/** The language of sentences. */
export const LANGUAGE_QUERY = {
  language: z
    .enum(Object.keys(LANGUAGES) as [Language, ...Language[]])
    .default('en')
    .describe('Language of the sentences.'),
};
