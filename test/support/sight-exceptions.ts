/**
 * Reads in statements under a grant that lack the condition in `queries/sight.ts`, each with the reason why it reveals
 * nothing.
 */

/** An exception. */
export interface SightException {
  /** Matches what `unseenReads` returns. */
  readonly of: RegExp;
  readonly because: string;
}

/** All of them. */
export const SIGHT_EXCEPTIONS: readonly SightException[] = [
  {
    of: /from consents\.proposals p/,
    because:
      'proposals are found by their grant; the version that one is based on tells whether it has lapsed',
  },
  {
    of: /select r\.id from resources\.resource r join resources\.resource p on p\.id = \$ and p\.tenant = r\.tenant where r\.id = any\(\$::uuid\[\]\) and \(r\.record is null or r\.record = p\.id\)/,
    because: 'ids in an answer that belong to the record or the directory are shown; no row is',
  },
  {
    of: /select r\.id from resources\.resource r where r\.id = any\(\$::uuid\[\]\) and r\.tenant = \$ and \(r\.record = \$ or r\.record is null\)/,
    because: 'references into the record and the directory are shown, and searched by; no row is',
  },
  {
    of: /timeline\.place p (?:where|on) p\.record = \$ and p\.list = .* exists \(\)/,
    because: 'the version of each place is looked up in timeline.entry, under the condition',
  },
  {
    of: /^timeline\.tally in: select coalesce\(sum\(t\.count\), 0\) from timeline\.tally t where t\.record = \$ and t\.list = any/,
    because: 'sums of a list that has the grant’s only category in its name',
  },
  {
    of: /^timeline\.place in: select count\(\*\) from unnest\([^)]*\) l\(list, low, high, id, first, last\) join timeline\.place p on p\.record = \$ and p\.list = l\.list and .* where p\.until is null$/,
    because: 'the ends of the stretches that such sums leave out',
  },
  {
    of: /^timeline\.place in: .* join timeline\.place p on within\(p\) .* seen\(e\)$/,
    because: 'the version of each place is joined, under the condition',
  },
  {
    of: /select f\.since from timeline\.entry f where f\.id = e\.id and f\.version = 1/,
    because: 'when a listed item was created',
  },
  {
    of: /\) r left join history\.version v on v\.id = r\.id and v\.version = r\.version left join history\.version f/,
    because: 'author and creation of the resource that the look-up beside it found',
  },
  {
    of: /from unnest\(\$::uuid\[\], \$::int\[\]\) k\(id, version\) join history\.version v on v\.id = k\.id and v\.version = k\.version/,
    because: 'texts and authors of versions that were found before',
  },
  {
    of: /^timeline\.entry in: select e\.\* from timeline\.entry e where e\.id = p\.id order by e\.version desc limit 1$/,
    because: 'the newest version of the resource at each place, which is joined under the condition',
  },
  {
    of: /^(?:history\.version|resources\.resource) in: select (?:v\.recorded_at as last, \(\) is true as shown|r\.last_updated >= v\.recorded_at) from /,
    because: 'the moment of a summary’s receipt, which an application doesn’t see',
  },
  {
    of: /^history\.version in: select max\(v\.recorded_at\) from history\.version v where v\.record = \$$/,
    because: 'whether series that are held are still the newest; it isn’t shown',
  },
  {
    of: /^(?:history|resources)\.\w+ in: select max\([rv]\.\w+\)(?: as last)? from (?:resources\.resource r|history\.version v) where within\([rv]\)$/,
    because: 'whether the read model history has what was read; it isn’t shown',
  },
  {
    of: /from resources\.resource r, lateral \(\) s where within\(r\)/,
    because: 'rows that aren’t seen give the time of the last change alone, to know when to read again',
  },
  {
    of: /select count\(\*\)::int from history\.version n where n\.id = \$ and within\(n\)/,
    because:
      'versions of one resource of a type that is seen in whole: the statement around it compares the type',
  },
  {
    of: /select 1 from history\.version n where n\.id = v\.id and n\.version = v\.version \+ 1/,
    because: 'when a version within was replaced, for `_at`',
  },
  {
    of: /from history\.client_provenance r (?:join history\.version b on b\.id = r\.id and b\.version = r\.version )?where .* exists \(\)/,
    because: 'a Provenance is looked up in resources.resource, under the condition',
  },
  {
    of: /^resources\.resource in: .* from resources\.resource r join history\.version v on v\.id = r\.id where .*seen\(v\)/,
    because: 'the condition on versions asks about the current one',
  },
  {
    of: /^search\.entry in: select e\.id, e\.record from search\.entry e where e\.keys && \$::int8\[\]$/,
    because: 'counts of the directory’s types, by keys of a type',
  },
  {
    of: /^resources\.resource in: select r\.id, r\.type, r\.body from resources\.resource r where r\.id = any\(\$::uuid\[\]\) and r\.tenant = \$ and within\(r\) and not r\.deleted$/,
    because: 'who acts is looked up in the directory of the application’s own project',
  },
];
