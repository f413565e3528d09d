/** Implements open routes over HTTP: the pipeline steps in which they differ from the other interfaces. */
import type { Context } from 'koa';
import { Faults } from '#src/shared/faults.ts';
import { MAX_VALUES, parseJson } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Answer } from '../answer/answer.ts';
import { type BodyLimits, decodeBody, hasBody, JSON_TYPES, type RawBody, readBody } from '../body.ts';
import { JsonCount } from '../body-count.ts';
import { formIn, readFormBody } from '../form-body.ts';
import type { LargeBodies } from '../large-bodies.ts';
import { readHeaders } from '../path.ts';
import type { Admitted, Asked, Dialect } from '../pipeline.ts';
import { addIssues, sentence } from './issues.ts';
import type { OpenRequest, OpenRoute, OpenService } from './open-route.ts';
import type { FoundPath, RouteTable } from './table.ts';

/** A service's open routes. */
export interface OpenInterface {
  readonly table: RouteTable<OpenRoute>;
  readonly service: OpenService;
  readonly largeBodies: LargeBodies;
}

/** A request to a route. */
interface AskedOpen extends Asked<OpenRoute>, Pick<OpenRequest, 'params' | 'query'> {}

/** Limits on a JSON body. */
const BODY: BodyLimits = {
  accepted: JSON_TYPES,
  bytes: 100_000,
  count: () => new JsonCount({ values: MAX_VALUES }),
};

/**
 * Defines how requests to open routes are read and answered. Open routes need no credential, so the steps for grants and keys
 * are never reached.
 */
export class OpenDialect implements Dialect<OpenRoute, FoundPath<OpenRoute>, AskedOpen> {
  constructor(private readonly open: OpenInterface) {}

  find({ path }: Context): FoundPath<OpenRoute> | undefined {
    return this.open.table.find(path);
  }

  ask(ctx: Context, route: OpenRoute, { names, values }: FoundPath<OpenRoute>): AskedOpen {
    const params = Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
    const query = new URLSearchParams(ctx.querystring);
    return { route, params, query, header: readHeaders(ctx.req.headers) };
  }

  readBody(ctx: Context, { route }: AskedOpen, owner: string): Promise<RawBody> | undefined {
    if (route.form !== undefined) return readFormBody(ctx);
    if (route.body === undefined || (route.bodyLater === true && !hasBody(ctx.req))) return undefined;
    return readBody(ctx.req, BODY, this.open.largeBodies.memory.hold(owner, ctx.res));
  }

  async run(ctx: Context, asked: AskedOpen, _: Admitted, sent?: RawBody): Promise<Answer> {
    const { route, params, query, header } = asked;
    const { requestId } = ctx.state;
    const form = formIn(route.form === undefined ? undefined : sent);
    const body = route.body === undefined || sent === undefined ? undefined : parseBody(route.body, sent);
    return route.run({ service: this.open.service, ctx, requestId, params, query, header, form, body });
  }

  inward = neverReached;
  findOpening = neverReached;
  log = neverReached;
  printRefusal = neverReached;
}

function neverReached(): never {
  throw new TypeError('an open route takes no credential and stores no answer');
}

/**
 * Parses a JSON body. Unknown members are ignored.
 * @throws Refusal malformed (400), invalid (422)
 */
function parseBody(schema: NonNullable<OpenRoute['body']>, sent: RawBody): unknown {
  const { value } = parseJson(decodeBody(sent));
  const result = schema.safeParse(value, { error: sentence });
  if (result.success) return result.data;
  const faults = new Faults();
  addIssues(faults, result.error.issues, value, '');
  throw new Refusal('invalid', faults.list());
}
