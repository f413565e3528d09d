import type { Limits } from '#src/shared/limits.ts';

/** The settings that HTTP needs; `src/config.ts` describes them. */
export interface Settings {
  /** URL of the service as clients reach it, without a slash at its end. */
  readonly baseUrl: string;
  /** Folder with `quickstart.json`. */
  readonly dataDir: string;
  readonly mode: 'development' | 'production';
  readonly limits: Limits;
  /** `allow` if other machines may use the development issuer. */
  readonly devIssuer: 'local' | 'allow';
  /** Addresses and networks in CIDR notation. */
  readonly trustedProxies: readonly string[];
  /** `all` if the access log has reads with API keys too. */
  readonly accessLog: 'grants' | 'all';
  /** The projects that get production keys and applications: all, or those that an operator has allowed. */
  readonly productionAccess: 'open' | 'request';
}
