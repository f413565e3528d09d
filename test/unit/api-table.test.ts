/** The route table: which route belongs to a path and method. */
import { expect } from 'chai';
import { type Route, route } from '#src/http/api/route.ts';
import { namesIn, RouteTable } from '#src/http/api/table.ts';
import { allowHeader, type Method, routeFor } from '#src/http/pipeline.ts';
import { Refusal } from '#src/shared/refusal.ts';

const at = (method: Method, path: string, operationId = `${method} ${path}`): Route =>
  route({
    method,
    path,
    operationId,
    summary: '',
    tag: 'Service',
    credential: 'none',
    grantToken: 'refused',
    answers: {},
    run: async () => ({ status: 204 }),
  });

describe('the table of routes', () => {
  const table = new RouteTable([
    at('GET', '/admin/projects'),
    at('POST', '/admin/projects'),
    at('GET', '/admin/projects/{project_id}'),
    at('DELETE', '/admin/projects/{project_id}'),
    at('GET', '/admin/projects/{project_id}/keys/{key_id}'),
    at('GET', '/admin/projects/mine'),
    at('GET', '/v1/webhooks/{endpoint_id}/deliveries'),
    at('POST', '/v1/webhooks/{endpoint_id}/deliveries/redeliver-exhausted'),
    at('POST', '/v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/redeliver'),
  ]);
  const found = (method: string, path: string) => {
    const place = table.find(path);
    return place && [routeFor(place.methods, method).path, ...place.values];
  };

  it('finds a path, with a slash at its end too, and what stands for its names, decoded', () => {
    expect(found('GET', '/admin/projects')).to.deep.equal(['/admin/projects']);
    expect(found('POST', '/admin/projects/')).to.deep.equal(['/admin/projects']);
    expect(found('GET', '/admin/projects/a%2Fb')).to.deep.equal(['/admin/projects/{project_id}', 'a/b']);
    expect(found('GET', '/admin/projects/p/keys/k')).to.deep.equal([
      '/admin/projects/{project_id}/keys/{key_id}',
      'p',
      'k',
    ]);
  });

  it('prefers what is written out', () => {
    expect(found('GET', '/admin/projects/mine')).to.deep.equal(['/admin/projects/mine']);
    expect(found('POST', '/v1/webhooks/w/deliveries/redeliver-exhausted')?.[0]).to.match(/exhausted$/);
    expect(found('POST', '/v1/webhooks/w/deliveries/d/redeliver')).to.deep.equal([
      '/v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/redeliver',
      'w',
      'd',
    ]);
  });

  it('finds literal segments in any letter case if told to, and leaves names as they are', () => {
    const open = new RouteTable([at('GET', '/'), at('POST', '/shl/{link_id}/Files')], 'any');
    expect(open.find('/')?.pattern).to.equal('/');
    expect(open.find('/SHL/aBc/files')?.values).to.deep.equal(['aBc']);
    expect(table.find('/ADMIN/projects')).to.equal(undefined);
    expect(open.listAt('/shl/aBc/files').map(({ method }) => method)).to.deep.equal(['POST']);
    expect([open.listAt('/shl'), open.listAt('/shl/%zz/files')]).to.deep.equal([[], []]);
  });

  it('knows no other path, nor one with an empty segment', () => {
    for (const path of [
      '/',
      '/admin',
      '/admin/nope',
      '/admin/projects//',
      '/admin/projects/p/keys',
      '/admin/projects//keys/k',
    ])
      expect(found('GET', path), path).to.equal(undefined);
    expect(() => table.find('/admin/projects/%zz')).to.throw(Refusal, 'percent-encoding');
  });

  it('answers HEAD as GET, and refuses other methods with those that there are', () => {
    expect(found('HEAD', '/admin/projects')).to.deep.equal(['/admin/projects']);
    const place = table.find('/admin/projects');
    expect(place && allowHeader(place.methods)).to.equal('GET, HEAD, POST, OPTIONS');
    for (const method of ['PUT', 'constructor', 'get'])
      expect(() => found(method, '/admin/projects')).to.throw(
        Refusal,
        `${method} is not supported here; the methods of this URL are GET, HEAD, POST, OPTIONS`,
      );
  });

  it('is refused when two routes cannot be told apart', () => {
    const made = (...routes: Route[]) => new RouteTable(routes);
    expect(() => made(at('GET', '/a'), at('GET', '/a', 'other'))).to.throw('two routes answer GET /a');
    expect(() => made(at('GET', '/a', 'x'), at('GET', '/b', 'x'))).to.throw('two routes are called x');
    expect(() => made(at('GET', '/a/{b}'), at('POST', '/a/{c}'))).to.throw('two patterns');
  });

  it('reads the names of a path', () => {
    expect(namesIn('/a/{b_c}/d/{e}')).to.deep.equal(['b_c', 'e']);
    expect(namesIn('/a')).to.deep.equal([]);
  });
});
