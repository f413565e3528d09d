/** The last-resort response, used when building an error response has itself failed. */
import { createServer, type RequestListener } from 'node:http';
import { expect } from 'chai';
import { answerWithoutWords } from '#src/http/server/last-answer.ts';
import { freePort } from '#test/support/process.ts';

describe('the last answer', () => {
  async function asked(listener: RequestListener): Promise<Response> {
    const server = createServer(listener);
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    try {
      const response = await fetch(`http://127.0.0.1:${port}/dev/last`);
      return new Response(await response.text(), response);
    } finally {
      server.close();
    }
  }

  it('is a 500 in JSON with the id of the request, and without headers of the answer that failed', async () => {
    const response = await asked((_, res) => {
      res.setHeader('Content-Length', '7');
      answerWithoutWords(res, 'req_1');
    });
    expect(response.status).to.equal(500);
    expect(response.headers.get('service-request-id')).to.equal('req_1');
    const body = (await response.json()) as { resourceType: string; error: { type: string } };
    expect(body.resourceType).to.equal('OperationOutcome');
    expect(body.error.type).to.equal('internal');
  });

  it('is the end of the connection where an answer has begun', async () => {
    let refused: unknown;
    await asked((_, res) => {
      res.write('half');
      answerWithoutWords(res, 'req_2');
    }).catch((error: unknown) => {
      refused = error;
    });
    expect(refused).to.be.instanceOf(TypeError);
  });
});
