/** The number of files that a newcomer must read to follow one request. */
import { expect } from 'chai';
import { itAtFullSize } from '#test/support/scale.ts';
import { startedDataDir } from '#test/support/service.ts';
import { listRequestFiles } from '../../tools/house/request-files.ts';

/** When the counts decrease, lower these numbers as well. */
const MOST = { create: 105, 'v1 create': 117, search: 54, read: 24 } as const;

describe('files of a request', () => {
  itAtFullSize('are few', async () => {
    const files = await listRequestFiles(await startedDataDir());
    for (const [name, most] of Object.entries(MOST)) {
      const all = files[name as keyof typeof MOST];
      expect(all.length, `${name}:\n${all.join('\n')}`).to.be.within(10, most);
    }
    expect(files.create).to.include('commands/resource/decide.ts');
    expect(files.search).to.not.include('commands/resource/decide.ts');
  });
});
