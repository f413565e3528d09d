/**
 * Gives the browser a usable language: some browsers report a language that Intl rejects, such as `en-US@posix`, and the chart
 * library reads this language when it is loaded.
 */
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en' });
}

export {};
