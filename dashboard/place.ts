/** The page's attributes say where the dashboard is served. */
const { base = '', version = '' } = document.getElementById('app')?.dataset ?? {};

/** `base`: the service's path, such as `/records`; empty at the root. */
export const PLACE = { base, version, root: `${base}/app` } as const;
