import type { Limits } from '#src/shared/limits.ts';

/** Defines the settings that HTTP uses; `src/config.ts` describes them. */
export interface Settings {
  /** The service's URL as clients reach it, without a trailing slash. */
  readonly baseUrl: string;
  /** Folder that contains `quickstart.json`. */
  readonly dataDir: string;
  readonly mode: 'development' | 'production';
  readonly limits: Limits;
  /** `allow` if other machines may use the development issuer. */
  readonly devIssuer: 'local' | 'allow';
  /** Addresses and networks in CIDR notation. */
  readonly trustedProxies: readonly string[];
  /** `all` if the access log also contains reads with API keys. */
  readonly accessLog: 'grants' | 'all';
  /** The projects that may have production keys and applications: all, or only those that an operator has allowed. */
  readonly productionAccess: 'open' | 'request';
}
