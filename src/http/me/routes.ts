/** Every route below `/me` (docs/spec/interface.md, section 4.6). */
import type { Route } from '../api/route.ts';
import { MY_GRANT_ROUTES } from './grants.ts';
import { MY_PATIENT_ROUTES } from './patients.ts';

/** All routes, in the order of the documentation. */
export const ME_ROUTES: readonly Route[] = [...MY_PATIENT_ROUTES, ...MY_GRANT_ROUTES];
