import { expect } from 'chai';
import { createLogger } from '#src/logging.ts';

/** Returns what the logger writes while `work` runs, parsed from JSON. */
function logged(work: (log: ReturnType<typeof createLogger>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  work(createLogger('info', { write: (line) => lines.push(line) }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('log', () => {
  it('writes lines of JSON with level and time', () => {
    const [line] = logged((log) => log.info({ status: 200 }, 'answered'));
    expect(line).to.deep.include({ level: 'info', status: 200, msg: 'answered' });
    expect(line?.time).to.match(/^\d{4}-\d\d-\d\dT/);
  });

  it('leaves out lines below its level', () => {
    expect(logged((log) => log.debug('detail'))).to.deep.equal([]);
  });

  it('never shows a credential', () => {
    const headers = {
      authorization: 'Bearer sk_test_1',
      'x-api-key': 'sk_test_2',
      'idempotency-key': 'sk_test_3',
    };
    const text = JSON.stringify(
      logged((log) => {
        log.info({ headers });
        log.info(headers);
        log.info({ req: { headers } });
        log.info({ sandbox_key: 'sk_test_4', databaseUrl: 'postgres://u:sk_test_5@h/d' });
      }),
    );
    expect(text).to.contain('[redacted]').and.not.to.contain('sk_test_');
  });

  it('shows of an error its kind, code and place, never the data that it quotes', () => {
    const database = Object.assign(new Error('invalid input syntax for type date: "Jane Doe"'), {
      name: 'error',
      severity: 'ERROR',
      code: '22007',
      detail: 'Key (name)=(Jane Doe) already exists.',
    });
    const [line] = logged((log) => {
      try {
        JSON.parse('{"family": "Jane Doe", "x": y}');
      } catch (cause) {
        log.error({ err: Object.assign(database, { cause }) }, 'failed');
      }
    });
    expect(JSON.stringify(line)).not.to.contain('Jane');
    expect(line?.err).to.deep.include({ code: '22007', message: 'invalid input syntax for type date: "…"' });
    expect(line?.err).to.have.property('stack').that.contains('logging.test.ts');
  });
});
