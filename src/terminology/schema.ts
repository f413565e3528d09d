/**
 * Defines the tables in schema `terminology`: code systems, value sets and maps, which every project reads and no request
 * writes. They are loaded from the program and from files. They aren't events, so rebuilds don't touch them.
 */

/** DDL of the schema. */
export const TERMINOLOGY_SQL = `
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE SCHEMA terminology;

-- CodeSystems, ValueSets and ConceptMaps as they are read; their concepts beside, in concept
CREATE TABLE terminology.resource (
  id uuid PRIMARY KEY,            -- derived from type and url
  type text NOT NULL,
  url text NOT NULL,
  loaded boolean NOT NULL,        -- from a file of the customer's; else it comes with the program
  changed_at int8 NOT NULL,       -- microseconds since 1970
  body text NOT NULL,
  UNIQUE (type, url)
);

-- a code system whose concepts are here
CREATE TABLE terminology.system (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  url text NOT NULL UNIQUE,
  version text,
  name text NOT NULL,
  content text NOT NULL,          -- complete or fragment
  loaded boolean NOT NULL
);

CREATE TABLE terminology.concept (
  system int NOT NULL,
  code text NOT NULL,
  place int NOT NULL,             -- in the order of the code system
  display text,
  category text,                  -- of an observation
  unit text,                      -- UCUM
  selectable boolean NOT NULL,    -- false: it only groups others
  active boolean NOT NULL,
  properties jsonb,               -- name → value or values
  PRIMARY KEY (system, code)
);
-- the concepts of a system in its order
CREATE INDEX concept_in_order ON terminology.concept (system, place);
-- parts of displays, and words that are nearly right
CREATE INDEX concept_by_display ON terminology.concept USING gin (display gin_trgm_ops);

-- is-a: a concept may have several parents
CREATE TABLE terminology.parent (
  system int NOT NULL,
  code text NOT NULL,
  parent text NOT NULL,
  PRIMARY KEY (system, code, parent)
);
CREATE INDEX parent_of ON terminology.parent (system, parent);

-- what the tables and their read models were last made from
CREATE TABLE terminology.made (what text PRIMARY KEY, fingerprint text NOT NULL);
`;

/**
 * Returns SQL for a text without case, accents and punctuation: words separated by single blanks, as returned by `plainWords`.
 */
export function foldedSql(text: string): string {
  return String.raw`btrim(regexp_replace(regexp_replace(lower(normalize(${text}, NFKD)),
  '[\u0300-\u036f]+', '', 'g'), '[\s!-/:-@\[-\x60{-~]+', ' ', 'g'))`;
}

/** DDL for finding codes: by their beginnings, by words in their displays, and by similar words. */
export const TERMINOLOGY_WORDS_SQL = `
ALTER TABLE terminology.concept
  ADD COLUMN folded text COLLATE "C" NOT NULL GENERATED ALWAYS AS (${foldedSql("coalesce(display, '')")}) STORED;
CREATE INDEX concept_by_beginning ON terminology.concept (system, folded);
CREATE INDEX concept_by_code ON terminology.concept (system, code COLLATE "C");

-- the codes of a word, those with the shortest displays first
CREATE TABLE terminology.posting (
  system int NOT NULL,
  word text COLLATE "C" NOT NULL,
  length int NOT NULL,
  code text NOT NULL,
  PRIMARY KEY (system, word, length, code)
);
-- the words of a system's displays
CREATE TABLE terminology.word (
  system int NOT NULL,
  word text COLLATE "C" NOT NULL,
  codes int NOT NULL,             -- how many have it
  PRIMARY KEY (system, word)
);
CREATE INDEX word_by_likeness ON terminology.word USING gin (word gin_trgm_ops);

INSERT INTO terminology.posting (system, word, length, code)
SELECT DISTINCT c.system, w.word, length(c.folded), c.code
FROM terminology.concept c CROSS JOIN LATERAL regexp_split_to_table(c.folded, ' ') w(word)
WHERE w.word <> '' AND c.active;
INSERT INTO terminology.word (system, word, codes)
SELECT p.system, p.word, count(*) FROM terminology.posting p GROUP BY p.system, p.word;
`;

/** DDL for the index of codes, which replaces the tables of words. */
export const TERMINOLOGY_INDEX_SQL = `
DROP TABLE terminology.posting, terminology.word;
DROP INDEX terminology.concept_by_beginning, terminology.concept_by_code;
-- a filter of $expand is part of a display or is a code: with an index for each not all concepts are read
CREATE INDEX concept_by_code_in_any_case ON terminology.concept (lower(code));

-- what a system's codes are found by, as the service holds it in memory (src/terminology/find)
CREATE TABLE terminology.code_index (
  system int NOT NULL,
  part text NOT NULL,
  piece int NOT NULL,             -- in the order of the part's bytes
  bytes bytea NOT NULL,
  PRIMARY KEY (system, part, piece)
);
`;

/** Removes indexes of codes that an earlier version built, so that they are built again with the new names and ranks. */
export const TERMINOLOGY_NAMES_SQL = 'DELETE FROM terminology.code_index;';
