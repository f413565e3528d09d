/** The seed for the content of every sandbox: the patients are the same everywhere, but their ids differ. */
export const SEED = 'annal';
