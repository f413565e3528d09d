/** The seed of every sandbox's content: the patients are the same everywhere; their ids differ. */
export const SEED = 'annal';
