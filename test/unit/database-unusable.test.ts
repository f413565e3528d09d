/**
 * A database that can't be used: the command line reports which setting configures it and what to check, without showing the
 * password.
 */
import { expect } from 'chai';
import { runCommand } from '#test/support/cli.ts';

describe('a DATABASE_URL that cannot be used', () => {
  for (const args of [
    ['patients', 'x'],
    ['verify'],
    ['parked'],
    ['explain', 'Patient'],
    ['rebuild', '--restored'],
  ]) {
    it(`is named by annal ${args[0]}, with what to check`, async () => {
      for (const [url, said] of [
        [
          'postgres://annal:hidden@127.0.0.1:1/annal',
          /connect ECONNREFUSED.*; check that PostgreSQL runs there/,
        ],
        ['postgres://annal:hid#den@127.0.0.1/annal', /must be .* percent-encoded/],
        ['hidden', /must be a URL such as postgres:/],
        ['mysql://annal:hidden@127.0.0.1/annal', /must be a URL such as postgres:/],
        ['postgres:///hidden?host=/nowhere', /connect ENOENT .*; check that PostgreSQL runs there/],
      ] as const) {
        const { code, stdout, stderr } = await runCommand(args, { DATABASE_URL: url, EVENTSTORE_URL: '' });
        expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
        expect(stderr)
          .to.match(/^annal: DATABASE_URL(?:: cannot use the database:)? .*\n$/)
          .and.to.match(said)
          .and.not.to.match(/hid/);
      }
    });
  }
});
