/**
 * Finds environment variables that were probably meant to be settings; without this check, a misspelt variable would be
 * silently ignored.
 */
import { configurationTable } from './config.ts';
import { nearest } from './shared/nearest.ts';

/** The maximum number of differences between a variable's name and the setting that was probably meant. */
const MOST_DIFFERENCES = 2;

/** Variables of other programs with names similar to a setting's: npm sets `NODE` for its scripts. */
const OF_OTHERS: ReadonlySet<string> = new Set(['NODE']);

/** A variable that Annal doesn't read, and the setting with a similar name. */
export interface Misspelt {
  readonly name: string;
  readonly setting: string;
}

/** Finds misspelt settings. Doesn't suggest settings that already have a value. */
export function misspeltSettings(env: NodeJS.ProcessEnv): Misspelt[] {
  const settings = configurationTable().map(({ name }) => name);
  const unset = settings.filter((name) => (env[name] ?? '').trim() === '');
  return Object.keys(env)
    .filter((name) => !settings.includes(name) && !OF_OTHERS.has(name))
    .flatMap((name) => {
      const setting = nearest(name, unset, MOST_DIFFERENCES);
      return setting === undefined ? [] : [{ name, setting }];
    });
}
