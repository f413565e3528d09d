/** The parts of the service that routes of the JSON interfaces work with. A new part is a member here, made in `src/app.ts`. */
import type { Commands } from '#commands/commands.ts';
import type { Queries } from '#queries/queries.ts';
import type { Config } from '#src/config.ts';
import type { KeyUse } from '#src/operations/key-use.ts';
import type { RequestLog } from '#src/operations/request-log.ts';
import type { Usage } from '#src/operations/usage.ts';

/** What a route's `run` finds in `request.services`. */
export interface Services {
  readonly config: Pick<Config, 'baseUrl' | 'mode' | 'limits'>;
  readonly commands: Commands;
  readonly queries: Queries;
  readonly requestLog: RequestLog;
  readonly usage: Usage;
  readonly keyUse: KeyUse;
}
