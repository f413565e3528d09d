/**
 * Gives the browser a language that can be used: some name one that Intl refuses, such as `en-US@posix`, and the charts' library
 * takes it when it is loaded.
 */
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en' });
}

export {};
