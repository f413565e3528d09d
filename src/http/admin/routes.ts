/** Every route below `/admin` (interface.md, section 4.5). */
import type { Route } from '../api/route.ts';
import { CONFIG_ROUTES } from './config.ts';

/** In the order of the documentation. */
export const ADMIN_ROUTES: readonly Route[] = [...CONFIG_ROUTES];
