/** PostgreSQL's executables as npm installs them: without links, and perhaps inaccessible to the user who runs them. */
import { execFileSync } from 'node:child_process';
import { lstat, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type PlatformPackage, platformPackage, postgresBinaries } from '#src/database/binaries.ts';
import { postgresUser } from '#src/database/system-user.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';

/** Copies the package as npm unpacks it when install scripts are blocked, that is, without the links between its libraries. */
async function unpacked(open: boolean): Promise<PlatformPackage> {
  const { root, version } = platformPackage();
  const copy = join(await temporaryFolder(open), 'package');
  execFileSync('cp', ['-a', root, copy]);
  const links = JSON.parse(await readFile(join(copy, 'native/pg-symlinks.json'), 'utf8')) as {
    target: string;
  }[];
  for (const { target } of links) await rm(join(copy, target), { force: true });
  return { root: copy, version };
}

describe('executables of PostgreSQL', () => {
  after(removeTemporaryFolders);

  it('run where npm left them, once their links are made', async () => {
    const packaged = await unpacked(true);
    const user = await postgresUser('/nonexistent');
    const { initdb, major } = await postgresBinaries(user, await temporaryFolder(), packaged);
    expect(initdb).to.equal(join(packaged.root, 'native/bin/initdb'));
    expect(major).to.equal(packaged.version.split('.')[0]);
    expect(execFileSync(initdb, ['--version'], { ...user, cwd: '/', encoding: 'utf8' })).to.contain(
      `) ${major}`,
    );
  });

  it('run from a copy when their user cannot reach them, made once', async function () {
    const user = await postgresUser('/nonexistent');
    if (user === undefined) return this.skip();
    const packaged = await unpacked(false);
    const spare = await temporaryFolder();
    const first = await postgresBinaries(user, spare, packaged);
    expect(first.postgres.startsWith(spare)).to.equal(true);
    for (const program of [first.postgres, first.initdb]) {
      expect(execFileSync(program, ['--version'], { ...user, cwd: '/', encoding: 'utf8' })).to.contain(
        'PostgreSQL',
      );
    }
    const { ino } = await stat(first.postgres);
    await postgresBinaries(user, spare, packaged);
    expect((await lstat(first.postgres)).ino).to.equal(ino);
  });
});
