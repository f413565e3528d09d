/**
 * Source files with SQL on tables in `resources`, `history`, `search` and `timeline` use the condition that limits what a
 * caller sees (`queries/sight.ts`), or are listed here with the reason why they don't. `test/http/grant-statements.test.ts`
 * checks the statements themselves.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = resolve(fileURLToPath(new URL('.', import.meta.url)), '../..');

const SQL =
  /\b(?:from|join|update|into)\s+(?:resources\.resource|history\.(?:version|client_provenance)|search\.(?:entry|string|period|quantity|\$\{)|timeline\.(?:entry|place|tally))\b/i;
const USES_SIGHT = /from '(?:#queries\/|\.{1,2}\/(?:\.\.\/)*)(?:search\/)?(?:sight|seen)\.ts'/;

/** Source files without the condition, by the reason why they don't need it. */
const WITHOUT: Readonly<Record<string, readonly string[]>> = {
  'the condition itself': ['queries/sight.ts'],
  'parts of a search, to which queries/search/ask.ts adds the condition, and queries/search/inner.ts in chains and _has':
    [
      'queries/search/predicates/conditions.ts',
      'queries/search/statements/entry-sort.ts',
      'queries/search/has.ts',
      'queries/search/kinds/hierarchy.ts',
      'queries/search/kinds/near.ts',
      'queries/search/kinds/string.ts',
      'queries/search/order.ts',
      'queries/search/statements/page.ts',
      'queries/search/kinds/record.ts',
      'queries/search/selection.ts',
      'queries/search/statements/value-walk.ts',
    ],
  'more of resources or versions that were found for the caller before': [
    'queries/context/context.ts',
    'queries/records-of.ts',
    'queries/rest/items.ts',
    'queries/rest/marks.ts',
    'queries/summary/summary.ts',
  ],
  'part of a query that has the condition': ['queries/everything/care-dates.ts'],
  'tables of queries that have the condition': ['queries/database/as-of.ts', 'queries/search-record.ts'],
  'which ids belong to a record; no row is shown': ['queries/read-granted.ts'],
  'not asked under a grant: answers with undefined, or isn’t called': [
    'queries/history/history-instance.ts',
    'queries/history/newest-version.ts',
  ],
  'what the application itself created': ['queries/own-document.ts'],
  'grants, links and proposals, by their own record': [
    'queries/consents/owner-of.ts',
    'queries/consents/patients-of-project.ts',
    'queries/consents/proposals.ts',
    'queries/consents/records.ts',
    'queries/consents/sandbox-links.ts',
    'queries/consents/shared-links.ts',
    'src/operations/invitations.ts',
    'src/operations/shared-links.ts',
  ],
  'for people: the patient’s own pages, and members of the project': [
    'queries/admin/patients.ts',
    'queries/admin/sandbox.ts',
    'queries/admin/traffic.ts',
    'queries/audit/access-search.ts',
    'queries/audit/contents.ts',
    'queries/audit/events.ts',
    'queries/rest/own-takebacks.ts',
    'queries/rest/clinical-entries.ts',
    'queries/rest/changed-by-ai.ts',
    'queries/rest/changes.ts',
    'queries/rest/entry-content.ts',
    'queries/rest/entry-origin.ts',
    'queries/rest/interpretations.ts',
    'queries/rest/measured-kinds.ts',
    'queries/rest/newest-results.ts',
    'queries/rest/record-versions.ts',
    'src/app/audit/events.ts',
    'src/app/audit/exports.ts',
  ],
  'for the service: uploads by a signed URL, the sweeper of documents, bodies of webhooks': [
    'queries/rest/document-blobs.ts',
    'queries/rest/document-slot.ts',
    'src/reactions/webhooks/text-as-of.ts',
  ],
  'take-backs, which owners and admins order over their own project': [
    'src/takeback/history.ts',
    'src/takeback/record-fates.ts',
  ],
  'commands of the operator': [
    'src/cli/commands.ts',
    'src/cli/record/directory-names.ts',
    'src/cli/record/find-patients.ts',
    'src/cli/record/history.ts',
    'src/cli/verify/verify-part.ts',
  ],
};

describe('sources of SQL on rows that callers see', () => {
  it('use the condition, or are listed with the reason', () => {
    const naming = ['queries', 'src', 'commands']
      .flatMap((folder) =>
        readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
          join(folder, name),
        ),
      )
      .filter((file) => file.endsWith('.ts') && SQL.test(readFileSync(join(ROOT, file), 'utf8')));
    const without = naming.filter((file) => !USES_SIGHT.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(naming.length - without.length).to.be.greaterThan(10);
    expect(without.sort()).to.deep.equal(Object.values(WITHOUT).flat().sort());
  });
});
