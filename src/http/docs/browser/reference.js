/** Runs the reference in the browser: operations open in place within the list, and forms send requests. */

/** Credentials by kind. They exist only here, and only until the visitor leaves the page. */
const credentials = { key: '', identity: '' };

/** True if the next animation frame will mark the group that is being read. */
let marking = false;

const groups = document.querySelector('#groups');
const sections = [...document.querySelectorAll('details.group')];

if (groups !== null) {
  for (const link of groups.children)
    link.addEventListener('click', (event) => {
      const section = document.getElementById(link.hash.slice(1));
      if (section === null) return;
      event.preventDefault();
      section.open = true;
      section.scrollIntoView();
      history.replaceState(null, '', link.hash);
    });
  for (const row of document.querySelectorAll('a.row')) {
    row.setAttribute('aria-expanded', 'false');
    row.addEventListener('click', (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
      event.preventDefault();
      toggle(row);
    });
  }
  addEventListener('scroll', mark, { passive: true });
  addEventListener('hashchange', openNamed);
  openNamed();
  mark();
}
for (const form of document.querySelectorAll('form.request')) prepare(form);

/** Opens the group that the URL names. */
function openNamed() {
  const named = document.getElementById(location.hash.slice(1));
  if (named?.matches('details.group') !== true) return;
  named.open = true;
  named.scrollIntoView();
}

/** Opens or closes an operation in the list. Its content is taken from the operation's own page. */
async function toggle(row) {
  const isOpen = row.getAttribute('aria-expanded') === 'true';
  row.setAttribute('aria-expanded', String(!isOpen));
  const known = row.parentElement.querySelector('article.operation');
  if (known !== null) {
    known.hidden = isOpen;
    return;
  }
  try {
    const answer = await fetch(row.href);
    if (!answer.ok) throw new Error(String(answer.status));
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const operation = document.adoptNode(page.querySelector('article.operation'));
    row.after(operation);
    prepare(operation.querySelector('form.request'));
  } catch {
    location.assign(row.href);
  }
}

/** Marks the group that is being read. */
function mark() {
  if (marking) return;
  marking = true;
  requestAnimationFrame(() => {
    marking = false;
    const current = sections.findLast((section) => section.getBoundingClientRect().top <= 100);
    for (const link of groups.children) {
      const isCurrent = current !== undefined && link.hash === `#${current.id}`;
      if (isCurrent === link.hasAttribute('aria-current')) continue;
      if (!isCurrent) link.removeAttribute('aria-current');
      else {
        link.setAttribute('aria-current', 'true');
        groups.scrollTo({
          left: link.offsetLeft - groups.clientWidth / 3,
          top: link.offsetTop - groups.clientHeight / 2,
        });
      }
    }
  });
}

/** Activates a form: it updates its command as the visitor types, and sends the request. */
function prepare(form) {
  const { credential } = form.elements;
  const kind = form.elements.namedItem('kind');
  const chooseBody = () => {
    for (const each of form.querySelectorAll('.body'))
      each.hidden = kind !== null && each.querySelector('[name=body]').dataset.kind !== kind.value;
  };
  const update = () => {
    const command = form.querySelector('.curl');
    command.hidden = false;
    command.querySelector('code').textContent = writeCurl(readRequest(form));
  };
  if (credential !== undefined) {
    credential.value = credentials[form.dataset.credential];
    credential.addEventListener('input', () => {
      credentials[form.dataset.credential] = credential.value;
      for (const other of document.querySelectorAll(
        `form.request[data-credential=${form.dataset.credential}]`,
      ))
        if (other !== form) other.elements.credential.value = credential.value;
    });
  }
  chooseBody();
  update();
  form.addEventListener('input', () => {
    chooseBody();
    update();
  });
  form.querySelector('.button').disabled = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(form);
  });
}

/** Returns the request that a form describes. */
function readRequest(form) {
  const { method, url: template, credential: kind, ownId } = form.dataset;
  let path = template;
  const query = new URLSearchParams();
  const headers = [];
  for (const control of form.querySelectorAll('[data-in]')) {
    const { name, in: place, map } = control.dataset;
    const value = control.value.trim();
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value).replaceAll('%2C', ','));
    else if (value === '') continue;
    else if (place === 'header') headers.push([name, value]);
    else if (map !== undefined) for (const [key, each] of new URLSearchParams(value)) query.append(key, each);
    else query.append(name, value);
  }
  const secret = form.elements.credential?.value.trim() ?? '';
  if (kind !== '') headers.push(['Authorization', `Bearer ${secret}`]);
  const body = [...form.querySelectorAll('[name=body]')].find((each) => !each.closest('.body').hidden);
  const file = body?.files?.[0];
  // R4 requires that the body of an update contain the id in the URL.
  const text = body?.type === 'file' ? undefined : body?.value.replace(ownId, path.split('/').pop());
  const type = file?.type || body?.dataset.type;
  if (file !== undefined || (text ?? '') !== '')
    headers.push(['Content-Type', type === '*/*' ? 'application/octet-stream' : type]);
  const url = query.size === 0 ? path : `${path}?${query}`;
  return { method, url, headers, text: text === '' ? undefined : text, file };
}

/** Returns the shell command that sends a request. The command takes the credential from a shell variable. */
function writeCurl({ method, url, headers, text, file }) {
  const quoted = (part) => `'${part.replaceAll("'", `'\\''`)}'`;
  const parts = [
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...headers.map(([name, value]) =>
      name === 'Authorization' ? '-H "Authorization: Bearer $TOKEN"' : `-H ${quoted(`${name}: ${value}`)}`,
    ),
    ...(text === undefined ? [] : [`--data-binary ${quoted(text)}`]),
    ...(file === undefined ? [] : [`--data-binary ${quoted(`@${file.name}`)}`]),
  ];
  return ['curl', ...parts.map((part) => `${part} \\\n `), quoted(url)].join(' ');
}

async function send(form) {
  const { method, url, headers, text, file } = readRequest(form);
  const button = form.querySelector('.button');
  button.disabled = true;
  try {
    const started = performance.now();
    const answer = await fetch(url, {
      method,
      headers: headers.filter(([name, value]) => name !== 'Authorization' || value !== 'Bearer '),
      body: text ?? file,
    });
    const body = await answer.text();
    const ms = Math.round(performance.now() - started);
    showAnswer(form, `${answer.status} ${answer.statusText}`.trim(), [...answer.headers], body, `${ms} ms`);
  } catch (error) {
    showAnswer(form, 'No answer', [], String(error.message ?? error), '');
  } finally {
    button.disabled = false;
  }
}

function showAnswer(form, status, headers, body, time) {
  const place = form.querySelector('.answer');
  const title = document.createElement('h4');
  title.textContent = 'Answer: ';
  const code = document.createElement('span');
  code.className = 'status';
  code.textContent = status;
  title.append(code, time === '' ? '' : ` in ${time}`);
  const block = (label, text) => {
    const pre = document.createElement('pre');
    pre.tabIndex = 0;
    pre.setAttribute('role', 'group');
    pre.setAttribute('aria-label', label);
    const inner = document.createElement('code');
    inner.textContent = text;
    pre.append(inner);
    return pre;
  };
  const more = document.createElement('details');
  const summary = document.createElement('summary');
  summary.textContent = 'Headers';
  more.append(summary, block('Headers', headers.map(([name, value]) => `${name}: ${value}`).join('\n')));
  place.replaceChildren(title, block('Body', indented(body)), headers.length === 0 ? '' : more);
  place.hidden = false;
}

/** Returns JSON with line breaks if its numbers keep their digits; returns any other text unchanged. */
function indented(text) {
  try {
    const value = JSON.parse(text);
    const same = JSON.stringify(value) === text.replace(/\s*\n\s*/g, '');
    return same ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text === '' ? '(no body)' : text;
  }
}
