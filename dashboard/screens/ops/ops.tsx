/** The operators' screens, `/app/ops`: only operators can open them. */
import type { ComponentType } from 'preact';
import { PLACE } from '../../place.ts';
import { isOperator } from '../../session.ts';
import type { TextKey } from '../../texts/texts.ts';
import { NotFound } from '../not-found.tsx';
import { Decisions } from './decisions.tsx';
import { FailedRequests } from './failed-requests.tsx';
import { Health } from './health.tsx';
import { Instances } from './instances.tsx';
import { Issuers } from './issuers.tsx';
import { Processes } from './processes.tsx';
import { ReadModels } from './read-models.tsx';
import { Sizes } from './sizes.tsx';
import { SlowRequests } from './slow-requests.tsx';
import { OpsVerification, OpsVerifications } from './verifications.tsx';
import { Watched } from './watch.tsx';

/** Their root. */
export const OPS = `${PLACE.root}/ops`;

/** Paths and names, in menu order. */
export const OPS_MENU: readonly (readonly [screen: string, name: TextKey])[] = [
  ['', 'ops.health'],
  ['/read-models', 'ops.models'],
  ['/processes', 'ops.processes'],
  ['/sizes', 'ops.sizes'],
  ['/failed-requests', 'ops.failed'],
  ['/slow-requests', 'ops.slow'],
  ['/projects', 'ops.projects'],
  ['/issuers', 'ops.issuers'],
  ['/instances', 'ops.instances'],
  ['/verifications', 'audit.verifications'],
];

const SCREENS: Readonly<Record<string, ComponentType>> = {
  '': Health,
  '/read-models': ReadModels,
  '/processes': Processes,
  '/sizes': Sizes,
  '/failed-requests': FailedRequests,
  '/slow-requests': SlowRequests,
  '/projects': Decisions,
  '/issuers': Issuers,
  '/instances': Instances,
  '/verifications': OpsVerifications,
  '/verifications/:job': OpsVerification,
};

/** The screens by path; for anyone who isn't an operator, they don't exist. */
export const OPS_ROUTES = Object.entries(SCREENS).map(([path, Screen]) => ({
  path: `${OPS}${path}`,
  screen: () =>
    !isOperator() ? (
      <NotFound />
    ) : path === '' ? (
      <Screen />
    ) : (
      <Watched>
        <Screen />
      </Watched>
    ),
}));
