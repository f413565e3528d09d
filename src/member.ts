/** A process that the machine's primary started: it runs its part of the service until the primary stops it. */
import type { Logger } from 'pino';
import { type App, startApp } from './app.ts';
import { loadConfig } from './config.ts';
import { createLogger } from './logging.ts';
import { Link } from './machine/link.ts';
import type { FromMember, ToMember } from './machine/messages.ts';

/** Runs the part that the primary assigns. If the primary exits, Node ends this process. */
export function runMember(isPlain: (error: unknown) => boolean): void {
  // A terminal sends its signals to the whole process group, but the primary decides how to respond to them.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  let link: Link | undefined;
  let app: Promise<App> | undefined;
  process.on('message', (message: ToMember) => {
    if (message.do === 'begin') {
      link = new Link(send, message.sockets);
      app = begin(message, link, isPlain);
    } else if (message.do === 'stop') void stop(app, link);
    else if (message.do === 'begun') void app?.then((running) => running.startBackground());
    else void link?.take(message);
  });
  send({ is: 'here' });
}

async function begin(
  { part, databaseUrl }: Extract<ToMember, { do: 'begin' }>,
  link: Link,
  isPlain: (error: unknown) => boolean,
): Promise<App> {
  process.title = `annal ${part.name}`;
  const config = loadConfig(process.env);
  const log = createLogger(config.logLevel).child({ worker: part.name });
  process.on('uncaughtException', (err) => end(log, err));
  try {
    const onLogClosed = (error: Error): void => fail(error, true);
    const app = await startApp({ config, databaseUrl, log, onLogClosed, part, link });
    if (part.begins) send({ is: 'begun', quickstart: await app.quickstart() });
    const url = part.answers ? (await app.listen()).url : undefined;
    send({ is: 'ready', url });
    return app;
  } catch (error) {
    fail(error, isPlain(error));
    throw error;
  }
}

async function stop(app: Promise<App> | undefined, link: Link | undefined): Promise<void> {
  // If startup failed, the failure has already been reported.
  await (await app?.catch(() => undefined))?.close();
  link?.stop();
  process.exit(0);
}

function end(log: Logger, err: unknown): void {
  log.fatal({ err }, 'uncaught exception');
  process.exit(1);
}

function fail(error: unknown, plain: boolean): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  process.send?.({ is: 'fatal', message: plain ? message : (stack ?? message), plain }, () =>
    process.exit(1),
  );
}

function send(message: FromMember): void {
  // If the primary has exited, this process exits too.
  if (process.connected) process.send?.(message, () => undefined);
}
