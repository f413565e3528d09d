/**
 * Annal's own properties for other publishers' codes. Their names begin with `annal-`, because the licences require that
 * additions are labelled.
 */

/** A code's properties, by name. */
export type Properties = Readonly<Record<string, string | readonly string[]>>;

/** Property: the code's rank among the system's codes when they are sorted by how common they are, from 1. */
export const RANK = 'annal-rank';
/** Property: names that people use. */
export const SYNONYM = 'annal-synonym';
/** Property: the everyday name. */
export const SHORT_NAME = 'annal-short-name';
/** Property: the codes of a panel's usual members. */
export const MEMBER = 'annal-member';
