/** The few values that random resources contain and random queries search for, so that they match often. */

/** Texts with the same beginning, with case and accents, and with characters that must be escaped in a query. */
export const STRINGS = ['Åse', 'ase lund', 'Lund', 'lünd, $5', 'a|b \\ c', 'Zoë'] as const;
/** Codes in the code systems. */
export const CODES = ['a', 'A', 'b', 'c-1'] as const;
/** Code systems, and namespaces of identifiers. */
export const SYSTEMS = ['urn:s1', 'http://s2.example/cs'] as const;
/** Values for elements of the type `code` with an open value set. */
export const OPEN_CODES = ['zz1', 'zz2'] as const;
/** Phone numbers and e-mail addresses. */
export const CONTACTS = ['555-0100', 'x@y.example'] as const;
/** URIs, some of whose paths contain others. */
export const URIS = [
  'http://u.example/a',
  'http://u.example/a/b',
  'http://u.example/a/b/c',
  'http://u.example/ab',
  'urn:oid:1.2.3',
] as const;
/** Dates in every precision, around the boundaries of a day, a month and a year. */
export const DAYS = ['2019', '2020', '2020-02', '2020-03', '2020-02-29', '2020-03-01', '2019-12-31'] as const;
/** Moments. */
export const MOMENTS = [
  '2020-02-29T23:30:00Z',
  '2020-03-01T00:30:00+02:00',
  '2020-02-29T23:30:00.500Z',
  '2020-02-29T19:00:00-05:00',
  '2019-12-31T23:59:59.999Z',
  '2020-01-01T00:00:00Z',
] as const;
/** Numbers with different precision. */
export const NUMBERS = [1, 1.5, 1.05, 2, 1000, 1500, 0.001, 0.0015, -2] as const;
/** UCUM units, and one invalid unit. */
export const UNITS = ['mg', 'g', 'kg', 'h', 'min', 'mmol/L', 'umol/L', '[none]'] as const;
/** Number of resources of each type that references can point to. */
export const SLOTS = 2;
