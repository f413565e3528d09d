/** An instance of newer software in a separate process: `node --import tsx newer-instance.ts <database url>`. */
import { becomeNewer } from './newer-software.ts';

becomeNewer();
await import('#test/projections/instance-process.ts');
