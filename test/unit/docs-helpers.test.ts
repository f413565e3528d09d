/** The helpers used in the documentation's examples report what went wrong. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { expect } from 'chai';
import { stepsOf } from '#test/support/pages.ts';
import { portOf, ROOT } from '#test/support/process.ts';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(command: string, ...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd: ROOT }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

describe('helpers of the documentation', () => {
  for (const page of ['docs/connect.md', 'docs/shared-links.md']) {
    it(`pick of ${page} prints what is in an answer, and fails with the answer if it is not there`, async () => {
      const step = stepsOf(await readFile(`${ROOT}/${page}`, 'utf8')).find(({ commands }) =>
        commands.includes('pick()'),
      );
      const helper = /^pick\(\) \{[\s\S]*?^\}$/m.exec(step?.commands ?? '')?.[0] ?? '';
      const pick = (answer: string, what: string): Promise<Ran> =>
        run('sh', '-c', `${helper}\nANSWER=$1\npick "$2"`, 'sh', answer, what);
      const answer = '{"error":{"message":"no"}}\nHTTP 422';
      expect(await pick(answer, 'r.error.message')).to.deep.equal({ code: 0, stdout: 'no\n', stderr: '' });
      for (const what of ['r.id', 'r.data[0].id'])
        expect(await pick(answer, what)).to.deep.equal({
          code: 1,
          stdout: '',
          stderr: `the answer has no ${what}: ${answer}\n`,
        });
    });
  }

  it('person.mjs takes only allow and deny, and prints the words of a page that stops it', async () => {
    const server = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end('<style>p {}</style><main><h1>Error</h1><p role="alert">client_id is unknown</p></main>');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${portOf(server)}/oauth/authorize`;
    const person = (...args: readonly string[]) => run('node', 'docs/examples/person.mjs', ...args);
    const stopped = { code: 1, stdout: '' };
    try {
      for (const args of [
        [url, 'a@b.org', 'alow'],
        [url, 'a@b.org'],
        ['x', 'a@b.org', 'deny'],
      ])
        expect(await person(...args)).to.deep.equal({
          ...stopped,
          stderr: 'usage: person.mjs URL EMAIL allow|deny [ID OF THE RECORD]\n',
        });
      expect(await person(url, 'a@b.org', 'allow')).to.deep.equal({
        ...stopped,
        stderr: 'the service answered: client_id is unknown\n',
      });
    } finally {
      server.close();
    }
    expect((await person(url, 'a@b.org', 'allow')).stderr).to.match(/cannot be reached: .*ECONNREFUSED/);
  });
});
