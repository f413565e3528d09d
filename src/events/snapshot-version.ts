/**
 * The version of the content of snapshots. Increase it when an entry, or the fold of records and directories, changes
 * (`commands/resource/state.ts`). Snapshots with other versions are ignored, and replaced by newer ones.
 */
export const SNAPSHOT_VERSION = 4;
