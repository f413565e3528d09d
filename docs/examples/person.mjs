/**
 * Does what a person does in a browser between an application's authorization request and its answer: opens the URL,
 * signs in at the development issuer, sends the form of the consent page, and prints where the browser goes then.
 *
 * node docs/examples/person.mjs URL EMAIL allow|deny [ID OF THE RECORD]
 */
const [, , start, email, decision, record] = process.argv;
if (!URL.canParse(start) || email === undefined || !['allow', 'deny'].includes(decision))
  fail('usage: person.mjs URL EMAIL allow|deny [ID OF THE RECORD]');
const { origin } = new URL(start);
const cookies = new Map();

/** Prints why it can't go on, and ends. */
function fail(message) {
  console.error(message);
  process.exit(1);
}

/** Returns the words of a page, with those of an alert alone if there is one. */
function wordsOf(text) {
  const [, alert] = /role="alert"[^>]*>([\s\S]*?)<\/(?:p|div|ul)>/.exec(text) ?? [];
  const [, main] = /<main[^>]*>([\s\S]*)<\/main>/.exec(text) ?? [];
  return (alert ?? main ?? text)
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Returns the page that a request leads to, or the first URL outside the service. */
async function open(url, body) {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    body,
    redirect: 'manual',
    headers: {
      Origin: origin,
      Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    },
  }).catch(({ cause }) => fail(`${origin} cannot be reached: ${cause?.message}`));
  for (const line of response.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    cookies.set(name, value);
  }
  const text = await response.text();
  const location = response.headers.get('location');
  if (location === null) return { url, text };
  const next = new URL(location, url);
  return next.origin === origin ? open(next) : { url: next, text: '' };
}

/** Sends the first form of a page as it is, with some fields changed. */
function send({ url, text }, changes) {
  const [, action, inner] = /<form[^>]* action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/.exec(text) ?? [];
  if (action === undefined) fail(`the service answered: ${wordsOf(text)}`);
  const plain = (value) => value.replaceAll('&amp;', '&');
  const attribute = (input, name) => plain(new RegExp(` ${name}="([^"]*)"`).exec(input)?.[1] ?? '');
  const body = new URLSearchParams();
  for (const [input] of inner.matchAll(/<input [^>]*>/g)) {
    const isSent = !/type="(radio|checkbox)"/.test(input) || / checked/.test(input);
    if (isSent && attribute(input, 'name') !== '')
      body.append(attribute(input, 'name'), attribute(input, 'value'));
  }
  for (const [name, value] of Object.entries(changes)) body.set(name, value);
  return open(new URL(plain(action), url), body);
}

const signIn = await open(start);
const consent = signIn.text.includes('name="email"') ? await send(signIn, { email }) : signIn;
const end = consent.text === '' ? consent : await send(consent, { decision, ...(record && { record }) });
if (end.text !== '') fail(`the service answered: ${wordsOf(end.text)}`);
console.log(end.url.href);
