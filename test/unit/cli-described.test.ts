/** Command options are parsed, and the table of commands in docs/operations.md lists all of them. */
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { describeCommands } from '#src/cli/commands.ts';
import { OPTION_NAMES } from '#src/cli/options.ts';

describe('commands', () => {
  const { program } = describeCommands('');

  it('have options that are read, and no others', () => {
    const described = program.commands.flatMap(({ options }) => options.map((each) => each.attributeName()));
    expect([...new Set(described)]).to.have.members([...OPTION_NAMES]);
  });

  it('are those in the table of docs/operations.md', async () => {
    const page = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
    const [, table = ''] = /^\| Command .*\n\|[ -|]*\n((?:\|.*\n)+)/m.exec(page) ?? [];
    const listed = [...table.matchAll(/^\| `([a-z-]+)/gm)].map(([, name = '']) => name);
    expect(listed).to.have.members(program.commands.map((command) => command.name()));
  });
});
