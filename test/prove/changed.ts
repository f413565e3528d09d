/** Selects the stages that a change must run, from the table in `stages.ts`. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Stage } from './stage.ts';
import { RUN_ALL, STAGES } from './stages.ts';

/** Returns the stages whose folders or tests contain one of the files; all stages if a file is in `RUN_ALL`. */
export function touchedStages(files: readonly string[]): readonly Stage[] {
  if (files.some((file) => isIn(file, RUN_ALL))) return STAGES;
  return STAGES.filter(({ touches, run }) => {
    const own = 'tests' in run ? run.tests : [];
    return files.some((file) => isIn(file, touches) || isIn(file, own));
  });
}

/**
 * Returns whether a file is in one of the given places. A place is a file, a folder with everything below it, or a pattern
 * with `*` for a name.
 */
export function isIn(file: string, places: readonly string[]): boolean {
  return places.some((place) =>
    place.includes('*') ? pattern(place).test(file) : file === place || file.startsWith(`${place}/`),
  );
}

const pattern = (place: string): RegExp =>
  new RegExp(`^${place.replaceAll('.', String.raw`\.`).replaceAll('*', '[^/]*')}$`);

/**
 * Returns the files that differ between a commit and the working tree, including untracked files; for a renamed file, both
 * paths.
 * @throws Error if git doesn't know the commit
 */
export async function changedFiles(root: string, commit: string): Promise<readonly string[]> {
  const lines = async (...args: string[]): Promise<string[]> => {
    const { stdout } = await promisify(execFile)('git', args, { cwd: root, maxBuffer: 50_000_000 });
    return stdout.split('\n').filter((line) => line !== '');
  };
  const tracked = await lines('diff', '--name-only', '--no-renames', '--end-of-options', commit, '--');
  return [...tracked, ...(await lines('ls-files', '--others', '--exclude-standard'))];
}
