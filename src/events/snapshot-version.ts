/**
 * The version of the content of snapshots: increase it when the fold of records and directories, or an entry, changes
 * (`commands/resource/state.ts`). Snapshots with other versions are ignored, and replaced by newer ones.
 */
export const SNAPSHOT_VERSION = 4;
