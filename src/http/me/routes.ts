/** Every route below `/me` (docs/spec/interface.md, section 4.6). */
import type { Route } from '../api/route.ts';
import { MY_GRANT_ROUTES } from './grants.ts';
import { MY_LINK_ROUTES } from './links.ts';
import { MY_PATIENT_ROUTES } from './patients.ts';
import { REVOKE_ROUTES } from './revoke.ts';

/** All routes, in the order of the documentation. */
export const ME_ROUTES: readonly Route[] = [
  ...MY_PATIENT_ROUTES,
  ...MY_GRANT_ROUTES,
  ...REVOKE_ROUTES,
  ...MY_LINK_ROUTES,
];
