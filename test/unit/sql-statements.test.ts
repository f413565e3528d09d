import { expect } from 'chai';
import { isQuery, statementsIn } from '#src/cli/sql/statements.ts';

describe('SQL cut into statements', () => {
  const cases: readonly (readonly [string, readonly string[], string])[] = [
    ['select 1; select 2', ['select 1'], ' select 2'],
    ["select ';'; ", ["select ';'"], ''],
    ["select 'it''s;' ; select", ["select 'it''s;'"], ' select'],
    [`select e'\\';' ; x`, [`select e'\\';'`], ' x'],
    ['select ";" from a;', ['select ";" from a'], ''],
    ['select $a$ ; $a$; b', ['select $a$ ; $a$'], ' b'],
    ['select $$ ; $$;', ['select $$ ; $$'], ''],
    ['select 1 -- ; no\n;', ['select 1 -- ; no'], ''],
    ['/* ; */ select 1; -- end', ['/* ; */ select 1'], ''],
    [';;', [], ''],
    ["select 'open; select 2;", [], "select 'open; select 2;"],
    ['select $x$ open;', [], 'select $x$ open;'],
    ['/* open;', [], '/* open;'],
  ];
  for (const [text, complete, rest] of cases) {
    it(JSON.stringify(text), () => {
      expect(statementsIn(text)).to.deep.equal({ complete, rest });
    });
  }

  it('reads many comments in one pass', () => {
    const comments = '/* x */ '.repeat(10_000);
    expect(isQuery(`${comments}select 1`)).to.equal(true);
    expect(statementsIn(`${comments}delete from a;${comments}`)).to.deep.equal({
      complete: [`${comments}delete from a`],
      rest: '',
    });
  });

  it('knows what a cursor can fetch', () => {
    for (const text of [
      'select 1',
      '  WITH a as (select 1) table a',
      '(values (1))',
      '/* x */ -- y\n table a',
    ])
      expect(isQuery(text), text).to.equal(true);
    for (const text of ['explain select 1', 'show all', 'delete from a', 'selects'])
      expect(isQuery(text), text).to.equal(false);
  });
});
