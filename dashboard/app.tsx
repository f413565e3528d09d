/** The dashboard: its frame, and one screen per path. */
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { LocationProvider, Route, Router } from 'preact-iso';
import { Frame } from './frame.tsx';
import { useHere } from './here.ts';
import { useLoaded } from './load.ts';
import { Problem } from './parts/parts.tsx';
import { withReason } from './parts/reason.tsx';
import { PLACE } from './place.ts';
import { Application } from './screens/application/application.tsx';
import { Applications } from './screens/applications.tsx';
import { AUDIT_SCREENS } from './screens/audit/audit.tsx';
import { Consents } from './screens/consents.tsx';
import { Home } from './screens/home.tsx';
import { Keys } from './screens/keys.tsx';
import { Limits } from './screens/limits.tsx';
import { Members } from './screens/members.tsx';
import { NotFound } from './screens/not-found.tsx';
import { OPS_ROUTES } from './screens/ops/ops.tsx';
import { Organization } from './screens/organization/organization.tsx';
import { Overview } from './screens/overview.tsx';
import { Patients } from './screens/patients.tsx';
import { RecordEntry } from './screens/record/entry.tsx';
import { PatientRecord } from './screens/record/record.tsx';
import { RequestDetails } from './screens/request.tsx';
import { Requests } from './screens/requests.tsx';
import { Search } from './screens/search.tsx';
import { Sessions } from './screens/sessions.tsx';
import { TAKEBACK_SCREENS } from './screens/takeback/takebacks.tsx';
import { Try } from './screens/try.tsx';
import { Usage } from './screens/usage.tsx';
import { Webhook } from './screens/webhook.tsx';
import { Webhooks } from './screens/webhooks.tsx';
import { account, checkPerson, loadAccount } from './session.ts';
import { language, say } from './texts/texts.ts';

/** A project's screens: each one gets the project and environment from `useProject`. */
const SCREENS = {
  '': Overview,
  '/requests': Requests,
  '/requests/:id': RequestDetails,
  '/patients': withReason(Patients, 'patients.title'),
  '/patients/:id': withReason(PatientRecord, 'record.title'),
  '/patients/:id/entries/:type/:entry': withReason(RecordEntry, 'record.title'),
  '/keys': Keys,
  '/applications': Applications,
  '/applications/:id': Application,
  '/consents': Consents,
  '/webhooks': Webhooks,
  '/webhooks/:id': Webhook,
  '/search': withReason(Search, 'search.title'),
  '/try': withReason(Try, 'try.title'),
  '/usage': Usage,
  '/limits': Limits,
  '/members': Members,
  '/organization': Organization,
  ...AUDIT_SCREENS,
  ...TAKEBACK_SCREENS,
} as const;

/**
 * Returns a screen that appears only within one of the person's projects. It starts afresh in each environment: nothing that was
 * shown, opened or asked for in one stays on the other's screen.
 */
function inside(Screen: ComponentType): ComponentType {
  return () => {
    const here = useHere();
    return here === undefined ? <NotFound /> : <Screen key={`${here.project} ${here.environment}`} />;
  };
}

/** Each screen is created only once, so that a change of path within it doesn't reset the screen. */
const ROUTES = Object.entries(SCREENS).map(([path, screen]) => ({ path, screen: inside(screen) }));

/** Returns the dashboard. */
export function App() {
  const { failure } = useLoaded(loadAccount, []);
  useEffect(() => {
    document.documentElement.lang = language.value;
  }, [language.value]);
  useEffect(() => {
    // The person comes back from another tab or window.
    const check = () => void checkPerson().catch(() => undefined);
    addEventListener('focus', check);
    return () => removeEventListener('focus', check);
  }, []);
  if (account.value === undefined)
    return (
      <main class="first">
        <p class="quiet">{failure === undefined ? say('loading') : ''}</p>
        <Problem failure={failure} />
      </main>
    );
  return (
    <LocationProvider scope={PLACE.root}>
      <Frame>
        <Router>
          <Route path={PLACE.root} component={Home} />
          <Route path={`${PLACE.root}/sessions`} component={Sessions} />
          {OPS_ROUTES.map(({ path, screen }) => (
            <Route key={path} path={path} component={screen} />
          ))}
          {ROUTES.map(({ path, screen }) => (
            <Route
              key={path}
              path={`${PLACE.root}/projects/:project/:environment${path}`}
              component={screen}
            />
          ))}
          <Route default component={NotFound} />
        </Router>
      </Frame>
    </LocationProvider>
  );
}
