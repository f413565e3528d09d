import { expect } from 'chai';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { SigningKeys } from '#src/oauth/signing-keys.ts';
import { idTokenFor } from '#src/oauth/tokens/id-token.ts';
import type { Issued } from '#src/oauth/tokens/issued.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';

const ISSUER = 'https://annal.example';
const ISSUED: Issued = {
  accessToken: 'at_x',
  refreshToken: undefined,
  expiresIn: 1_200,
  scope: 'fhirUser openid patient/*.rs',
  grantId: 'grant_1',
  patient: '0190a000-0000-7000-8000-000000000001',
  subject: 'pairwise',
  own: true,
  authTime: 1_700_000_000,
};

describe('signing keys', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createMigratedDatabase();
  });
  afterEach(() => database.drop());

  const verified = async (keys: SigningKeys, issued = ISSUED) => {
    const token = await idTokenFor(keys, { issuer: ISSUER, clientId: 'client_test_1' }, issued);
    const published = await keys.published();
    return jwtVerify(token ?? '', createLocalJWKSet(published), {
      issuer: ISSUER,
      audience: 'client_test_1',
    });
  };

  it('sign ID tokens with the claims of the contract', async () => {
    const { payload, protectedHeader } = await verified(new SigningKeys(database.pool));
    expect(protectedHeader).to.include({ alg: 'RS256', typ: 'JWT' });
    const { iat = 0, exp = 0, ...claims } = payload;
    expect(claims).to.deep.equal({
      iss: ISSUER,
      sub: 'pairwise',
      aud: 'client_test_1',
      auth_time: 1_700_000_000,
      fhirUser: `${ISSUER}/fhir/R4/Patient/${ISSUED.patient}`,
    });
    expect(exp - iat).to.equal(1_200);
  });

  it("leave out fhirUser for a dependent's record and without that scope, and the token without openid", async () => {
    const keys = new SigningKeys(database.pool);
    expect((await verified(keys, { ...ISSUED, own: false })).payload).not.to.have.property('fhirUser');
    expect((await verified(keys, { ...ISSUED, scope: 'openid' })).payload).not.to.have.property('fhirUser');
    const none = { ...ISSUED, scope: 'fhirUser patient/*.rs' };
    expect(await idTokenFor(keys, { issuer: ISSUER, clientId: 'c' }, none)).to.equal(undefined);
  });

  it('are made once by instances that start together, and are sealed', async () => {
    const instances = Array.from({ length: 4 }, () => new SigningKeys(database.pool));
    const kids = await Promise.all(instances.map(async (keys) => (await keys.signing()).kid));
    expect(new Set(kids).size).to.equal(1);
    const { rows } = await database.pool.query<{ row: string }>(
      'select row_to_json(k)::text as row from operations.signing_key k',
    );
    expect(rows).to.have.length(1);
    expect(rows[0]?.row).not.to.match(/"d"|"p"|"qi"/);
    expect(JSON.stringify(await instances[0]?.published())).not.to.match(/"d"|"p"|"qi"/);
  });

  it('are published before they sign, and after another signs, on every instance', async () => {
    const [one, other] = [new SigningKeys(database.pool), new SigningKeys(database.pool)];
    const first = (await one.signing()).kid;
    const [next, before] = await one.rotate();
    expect(next).to.include({ status: 'waiting' });
    expect(before).to.include({ kid: first, status: 'signing' });
    expect((before?.publishedUntil?.getTime() ?? 0) - (next?.signsFrom.getTime() ?? 0)).to.equal(3_600_000);
    expect((await other.published()).keys.map(({ kid }) => kid)).to.deep.equal([next?.kid, first]);
    expect((await other.signing()).kid).to.equal(first);
    const signedBefore = await idTokenFor(other, { issuer: ISSUER, clientId: 'c' }, ISSUED);
    await pass(600);
    expect((await other.signing()).kid).to.equal(next?.kid);
    await jwtVerify(signedBefore ?? '', createLocalJWKSet(await one.published()));
    await pass(3_601);
    expect((await other.published()).keys.map(({ kid }) => kid)).to.deep.equal([next?.kid]);
    await one.sweep();
    const { rows } = await database.pool.query(
      "select 1 from operations.signing_key where private_key <> ''",
    );
    expect(rows).to.have.length(1);
    await verified(other);
  });

  it('rotate once when two operators do it together', async () => {
    const [one, other] = [new SigningKeys(database.pool), new SigningKeys(database.pool)];
    await one.signing();
    await Promise.all([one.rotate(), other.rotate()]);
    expect(await one.list()).to.have.length(2);
  });

  it('that leaked are replaced at once, with the one that waits', async () => {
    const keys = new SigningKeys(database.pool);
    await keys.signing();
    await keys.rotate();
    const [now, ...others] = await keys.rotate({ now: true });
    expect(now).to.include({ status: 'signing' });
    expect(others).to.deep.equal([]);
    await pass(700);
    expect((await new SigningKeys(database.pool).signing()).kid).to.equal(now?.kid);
  });

  /** Simulates the passing of the given number of seconds for the keys. */
  async function pass(seconds: number): Promise<void> {
    await database.pool.query(
      `update operations.signing_key set made_at = made_at - make_interval(secs => $1),
         signs_from = signs_from - make_interval(secs => $1),
         published_until = published_until - make_interval(secs => $1)`,
      [seconds],
    );
  }
});
