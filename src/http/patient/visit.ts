/** Represents a signed-in person's request for one of the pages. */
import type { Context } from 'koa';
import type { Session } from '#src/shared/access/session.ts';
import { type Html, html } from '#src/shared/html.ts';
import type { Texts } from '../pages/texts.ts';
import type { PatientPageServices } from '../ports/patient-pages.ts';
import { FORM_TOKEN } from '../signin/form-origin.ts';
import type { Visitors } from '../signin/visitors.ts';
import type { PatientOperation } from './operation.ts';
import { OwnApi, type OwnApiService } from './own-api.ts';

/** Path of the pages. */
export const HOME = '/connections';

/** The services that the pages need. */
export interface PatientDeps extends OwnApiService {
  readonly visitors: Visitors;
  readonly pages: PatientPageServices;
  readonly operation: PatientOperation;
}

/** Query parameters of a link. Parameters that are undefined or empty are left out. */
export type LinkQuery = Readonly<Record<string, string | number | undefined>>;

/** A visit. */
export class Visit {
  readonly api: OwnApi;
  /** Milliseconds since 1970. */
  readonly now = Date.now();
  readonly query: URLSearchParams;
  readonly #root: string;

  /** @param say the texts in the page's language */
  constructor(
    readonly deps: PatientDeps,
    readonly ctx: Context,
    readonly session: Session,
    readonly say: Texts,
  ) {
    this.query = new URLSearchParams(ctx.querystring);
    this.#root = new URL(deps.visitors.baseUrl).pathname.replace(/\/+$/, '');
    this.api = new OwnApi(deps, session, { requestId: String(ctx.state.requestId), incoming: ctx.req });
  }

  /** Returns a query parameter, shortened to `most` characters; undefined if it is absent or empty. */
  asked(name: string, most = 1_000): string | undefined {
    const value = this.query.get(name)?.slice(0, most);
    return value === '' ? undefined : value;
  }

  /**
   * Returns a page's URL as it appears in the browser's requests. If the person chose a language, the URL contains it.
   * @param path below BASE_URL, with encoded ids
   */
  to(path: string, query: LinkQuery = {}): string {
    return `${this.#root}${this.below(path, query)}`;
  }

  /** Returns the same URL as a path below BASE_URL. */
  below(path: string, query: LinkQuery = {}): string {
    const chosen: LinkQuery = this.query.has('lang') ? { lang: this.say.lang } : {};
    const given = Object.entries({ ...query, ...chosen }).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, String(value)]],
    );
    return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
  }

  /**
   * Returns the beginning of a form that is sent to the given path, including the token that proves that the form comes from
   * this session.
   */
  form(path: string, className?: string): Html {
    const style = className === undefined ? html`` : html` class="${className}"`;
    return html`<form${style} method="post" action="${this.to(path)}">
<input type="hidden" name="${FORM_TOKEN}" value="${this.session.formToken}">
`;
  }
}
