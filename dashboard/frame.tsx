/** The frame of every screen: where the person is, and where they can go. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Environment } from './api.ts';
import { type Here, pathOf, useHere, useScreen } from './here.ts';
import { Badge } from './parts/parts.tsx';
import { PLACE } from './place.ts';
import { keepReasonsOf } from './reason.ts';
import { mayAudit } from './screens/audit/parts.tsx';
import { OPS, OPS_MENU } from './screens/ops/ops.tsx';
import { mayTakeBack, TAKEBACKS } from './screens/takeback/parts.tsx';
import { account, isOperator } from './session.ts';
import { choose, LANGUAGES, type Language, language, say, type TextKey } from './texts/texts.ts';
import { urgentNeeds } from './urgent-needs.ts';

/** Screens in menu order. */
const MENU: readonly (readonly [screen: string, name: TextKey])[] = [
  ['', 'overview.title'],
  ['/requests', 'requests.title'],
  ['/patients', 'patients.title'],
  ['/keys', 'keys.title'],
  ['/applications', 'applications.title'],
  ['/consents', 'consents.title'],
  ['/audit', 'audit.title'],
  [TAKEBACKS, 'takebacks.title'],
  ['/webhooks', 'webhooks.title'],
  ['/search', 'search.title'],
  ['/try', 'try.title'],
  ['/usage', 'usage.title'],
  ['/limits', 'limits.title'],
  ['/members', 'members.title'],
  ['/organization', 'organization.title'],
];

const ENVIRONMENTS: readonly Environment[] = ['sandbox', 'production'];

/** Returns the frame around a screen. */
export function Frame({ children }: { readonly children: ComponentChildren }) {
  const here = useHere();
  const { path } = useLocation();
  const main = useRef<HTMLElement>(null);
  const isOps = isOperator() && (path === OPS || path.startsWith(`${OPS}/`));
  // Runs immediately: if it ran later, it would take the focus away from a person who has already begun to use the screen.
  useLayoutEffect(() => {
    main.current?.querySelector('h1')?.focus({ preventScroll: true });
  }, [path]);
  return (
    <div class={`frame ${here?.environment ?? ''}`}>
      <a class="skip" href="#content">
        {say('frame.skip')}
      </a>
      <header class="bar">
        <a class="brand" href={PLACE.root}>
          Annal
        </a>
        {here === undefined ? null : <Switches here={here} />}
        {isOperator() ? (
          <a class="area" href={OPS} aria-current={isOps ? 'true' : undefined}>
            {say('ops')}
          </a>
        ) : null}
        <Person />
      </header>
      {here === undefined ? null : <Environments here={here} />}
      <div class="columns">
        {here === undefined ? null : <Menu here={here} />}
        {isOps ? <OpsMenu /> : null}
        <main id="content" ref={main} tabIndex={-1}>
          {children}
        </main>
      </div>
    </div>
  );
}

/** Lets the person choose the project. */
function Switches({ here }: { readonly here: Here }) {
  const { route } = useLocation();
  const { projects = [], organizations = [] } = account.value ?? {};
  return (
    <label class="switch">
      <span class="away">{say('frame.project')}</span>
      <select
        value={here.project}
        onChange={({ currentTarget }) =>
          route(pathOf({ project: currentTarget.value, environment: 'sandbox' }))
        }
      >
        {organizations.map(({ id, name }) => (
          <optgroup key={id} label={name}>
            {projects
              .filter(({ organization_id }) => organization_id === id)
              .map((project) => (
                <option key={project.id} value={project.id}>
                  {project.name}
                </option>
              ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}

/** Returns the screen for the other environment: ids belong to one environment, so there it is the list. */
function inEach(screen: string): string {
  return screen
    .replace(/^\/(patients|requests|applications|webhooks)\/.*$/, '/$1')
    .replace(/^\/audit\/events\/.*$/, '/audit');
}

/** Shows on every screen whether the data is synthetic or about real people, and switches between them. */
function Environments({ here }: { readonly here: Here }) {
  const screen = useScreen();
  return (
    <section class="environment" aria-label={say('frame.environment')}>
      <nav aria-label={say('frame.environments')}>
        {ENVIRONMENTS.map((each) => (
          <a
            key={each}
            href={pathOf(
              { project: here.project, environment: each },
              each === here.environment ? screen : inEach(screen),
            )}
            aria-current={each === here.environment ? 'true' : undefined}
          >
            {say(`environment.${each}`)}
          </a>
        ))}
      </nav>
      <p>{say(`environment.${here.environment}.says`)}</p>
    </section>
  );
}

function Menu({ here }: { readonly here: Here }) {
  const screen = useScreen();
  const links = MENU.filter(
    ([path]) =>
      (path !== '/webhooks' || here.role !== 'auditor') &&
      (path !== '/audit' || mayAudit(here)) &&
      (path !== TAKEBACKS || mayTakeBack(here)),
  ).map(
    ([path, name]): MenuLink => [
      pathOf(here, path),
      name,
      path === '' ? screen === '' : screen.startsWith(path),
    ],
  );
  return <LinkMenu links={links} />;
}

/** The operators' menu; its screens don't belong to any one project. */
function OpsMenu() {
  const { path } = useLocation();
  return (
    <LinkMenu
      links={OPS_MENU.map(
        ([screen, name]): MenuLink => [
          OPS + screen,
          name,
          path.slice(OPS.length) === screen,
          screen === '' ? urgentNeeds.value : 0,
        ],
      )}
    />
  );
}

/** A line of a menu. */
type MenuLink = readonly [href: string, name: TextKey, isCurrent: boolean, count?: number];

function LinkMenu({ links }: { readonly links: readonly MenuLink[] }) {
  const menu = useRef<HTMLElement>(null);
  const current = links.findIndex(([, , isCurrent]) => isCurrent);
  // On a phone the menu is a strip that is only partly visible.
  useEffect(() => {
    const [link, strip] = [menu.current?.querySelector('[aria-current]'), menu.current?.firstElementChild];
    if (!(link instanceof HTMLElement) || !(strip instanceof HTMLElement)) return;
    for (const scrolled of [strip, menu.current])
      if (scrolled !== null)
        scrolled.scrollLeft = link.offsetLeft - (scrolled.clientWidth - link.offsetWidth) / 2;
  }, [current]);
  return (
    <nav ref={menu} class="menu" aria-label={say('frame.menu')}>
      <ul>
        {links.map(([href, name, isCurrent, count = 0]) => (
          <li key={href}>
            <a href={href} aria-current={isCurrent ? 'page' : undefined}>
              {say(name)} {count === 0 ? null : <Badge tone="bad">{count}</Badge>}
            </a>
          </li>
        ))}
      </ul>
      <p>
        <a href={`${PLACE.base}/docs`}>{say('frame.docs')}</a>
        <a href={`${PLACE.base}/docs/guides`}>{say('frame.guides')}</a>
      </p>
    </nav>
  );
}

function Person() {
  const { email, issuer, subject } = account.value?.installation.identity ?? {
    email: null,
    issuer: '',
    subject: '',
  };
  return (
    <details class="person">
      <summary>{email ?? subject}</summary>
      <div>
        <label>
          {say('frame.language')}{' '}
          <select
            value={language.value}
            onChange={({ currentTarget }) => choose(currentTarget.value as Language)}
          >
            {Object.entries(LANGUAGES).map(([code, { name }]) => (
              <option key={code} value={code}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <dl class="stacked">
          <dt>{say('members.issuer')}</dt>
          <dd>
            <code>{issuer}</code>
          </dd>
          <dt>{say('members.subject')}</dt>
          <dd>
            <code>{subject}</code>
          </dd>
        </dl>
        <p>
          <a href={PLACE.root}>{say('frame.projects')}</a>
        </p>
        <p>
          <a href={`${PLACE.root}/sessions`}>{say('sessions.title')}</a>
        </p>
        <p>
          <a href={`${PLACE.base}/signin/out`} target="_self" onClick={() => keepReasonsOf('')}>
            {say('frame.signOut')}
          </a>
        </p>
      </div>
    </details>
  );
}
