/** The files that commands write. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Failure } from '#src/cli/failure.ts';
import { writeNewFile } from '#src/cli/files.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';

describe('a file that a command writes', () => {
  after(removeTemporaryFolders);

  it('is named, and removed, if its disk is full', async () => {
    const folder = await temporaryFolder(false);
    const path = join(folder, 'record.ndjson');
    function* texts(): Generator<string> {
      yield 'a line\n';
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    }
    const error = await writeNewFile(path, texts()).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Failure);
    expect(String(error)).to.contain(`${path} cannot be written: ENOSPC: no space left on device`);
    expect(await readdir(folder)).to.deep.equal([]);
  });
});
