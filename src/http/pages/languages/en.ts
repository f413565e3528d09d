/** The pages in English. The keys of this file are the keys of all languages; `{name}` is a placeholder. */
export const en = {
  // Every page
  'shell.language': 'Language',
  'shell.error': 'This can’t go on',
} as const;
