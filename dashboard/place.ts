/** Where the dashboard is served: the page says so. */
const { base = '', version = '' } = document.getElementById('app')?.dataset ?? {};

/** `base`: path of the service, such as `/records`, empty at the root. */
export const PLACE = { base, version, root: `${base}/app` } as const;
