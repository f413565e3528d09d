/** Types of authors (docs/spec/interface.md, section 2.4). */
export const AUTHOR_TYPES = ['patient', 'practitioner', 'device', 'import', 'ai'] as const;

export type AuthorType = (typeof AUTHOR_TYPES)[number];
