/** What determines the content of every sandbox: the patients are the same everywhere; their ids are not. */
export const SEED = 'annal';
