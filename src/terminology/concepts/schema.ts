/** Defines the table of concepts in schema `terminology`, which isn't derived from events, so rebuilds don't touch it. */

/** The DDL for concepts. */
export const CONCEPTS_SQL = `
-- what the program's files and the customer's say of a concept, in one language each (src/terminology/concepts)
CREATE TABLE terminology.concept_entry (
  concept_id text COLLATE "C" NOT NULL,
  lang text NOT NULL,             -- a language tag (BCP 47), lower case
  loaded boolean NOT NULL,        -- from a file of the customer's; else it comes with the program
  type text,                      -- symptom, condition or treatment; null where another entry says it
  display text NOT NULL,
  synonyms text[] NOT NULL,
  codes jsonb NOT NULL,           -- [{system, code}]
  relations jsonb NOT NULL,       -- [{relation, target}]
  PRIMARY KEY (concept_id, lang, loaded)
);
-- the concepts that name a concept
CREATE INDEX concept_entry_by_target ON terminology.concept_entry USING gin (relations jsonb_path_ops);
`;

/** The DDL of the index by which a code gets a name from the concepts that have it. */
export const CONCEPT_CODES_SQL = `
CREATE INDEX concept_entry_by_code ON terminology.concept_entry USING gin (codes jsonb_path_ops);
`;
