/** Starts the dashboard in the page that the service serves at `/app` (src/http/app/). */
import './browser-language.ts';
import { render } from 'preact';
import { App } from './app.tsx';
import './style.css';

const root = document.getElementById('app');
if (root !== null) {
  root.textContent = '';
  render(<App />, root);
}
