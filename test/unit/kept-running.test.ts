/** A database that keeps stopping is restarted five times; then the service exits. */
import { expect } from 'chai';
import type { EmbeddedPostgres } from '#src/database/embedded.ts';
import { keepRunning } from '#src/database/kept-running.ts';

describe('the embedded database', () => {
  it('is restarted five times within ten minutes, also if a restart fails, and then given up', async () => {
    const said: string[] = [];
    const say = (_data: unknown, text?: string): void => void said.push(text ?? String(_data));
    let restarts = 0;
    const dying = (): EmbeddedPostgres => ({
      url: '',
      pid: restarts,
      died: Promise.resolve('its last words'),
      stop: async () => undefined,
      async restart() {
        restarts += 1;
        if (restarts === 2) throw new Error('no space left');
        return dying();
      },
    });
    await new Promise<void>((resolve) => {
      keepRunning(dying(), { error: say, fatal: say, info: say }, resolve, [1, 1, 1, 1, 1]);
    });
    expect(restarts).to.equal(5);
    expect(said.filter((one) => one.includes('restart '))).to.have.length(5);
    expect(said.at(-1)).to.include('6 times within 10 minutes, so the service stops');
  });
});
