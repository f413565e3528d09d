/** The command line: reads it, runs the command, turns failures into a sentence and an exit code. */
import { readFileSync } from 'node:fs';
import { type CAC, cac } from 'cac';
import { z } from 'zod';
import { AUTHOR_TYPES } from '#src/events/metadata.ts';
import { didYouMean } from '#src/shared/nearest.ts';
import { Failure, MISUNDERSTOOD } from './failure.ts';
import { read } from './options.ts';

/** Standard input's name would be taken for an option without a name: it is told apart before parsing. */
const STANDARD_INPUT = 'standard-input:';

/**
 * Runs a command line.
 * @param args without node and script.
 * @returns the exit code: 0, 1 when the command failed, 2 when it was not understood, 3 when a check found something.
 */
export async function main(args: readonly string[]): Promise<number> {
  const [first, about] = args;
  if (first === 'help') return main(about === undefined ? ['--help'] : [about, '--help']);
  // People are listed by the help of one command, and take as long to load as all else.
  const people = first === 'dev-token' ? (await import('./dev-patient.ts')).patientsHelp() : '';
  const cli = describeCommands(people);
  try {
    cli.parse(['node', 'annal', ...words(args)], { run: false });
    if (cli.options.help === true || cli.options.version === true) return 0;
    if (cli.matchedCommand === undefined) {
      const [name] = cli.args;
      if (name === undefined) {
        cli.outputHelp();
        return 0;
      }
      const names = cli.commands.map((command) => command.name);
      return refuse(`annal has no command ${name}${didYouMean(name, names)}: annal --help lists them`, 2);
    }
    const code: unknown = await cli.runMatchedCommand();
    return typeof code === 'number' ? code : 0;
  } catch (error) {
    if (error instanceof Failure) return refuse(error.message, error.exitCode);
    if (error instanceof z.ZodError) return refuse(error.issues.map(({ message }) => message).join('\n'), 2);
    if (error instanceof Error && error.name === 'CACError') {
      const help = [
        'annal',
        ...(cli.matchedCommand === undefined ? [] : [cli.matchedCommand.name]),
        '--help',
      ];
      return refuse(`${error.message}${nearOption(error.message, cli)}: ${help.join(' ')} explains it`, 2);
    }
    throw error;
  }
}

/** The option that a misspelt one is near to. */
function nearOption(message: string, cli: CAC): string {
  const [, name] = /^Unknown option `--?([\w-]+)`/.exec(message) ?? [];
  const options = [...cli.globalCommand.options, ...(cli.matchedCommand?.options ?? [])];
  return name === undefined
    ? ''
    : didYouMean(
        name,
        options.flatMap(({ rawName }) => /--[\w-]+/.exec(rawName)?.[0] ?? []),
      );
}

/** The words as cac takes them: a key may begin with a hyphen, and so does the name of standard input. */
function words(args: readonly string[]): string[] {
  const named = args.map((arg) => (arg === '-' ? STANDARD_INPUT : arg));
  const at = named.indexOf('--key');
  const key = at < 0 ? undefined : named[at + 1];
  return key === undefined ? named : [...named.slice(0, at), `--key=${key}`, ...named.slice(at + 2)];
}

function refuse(message: string, code: number): number {
  process.stderr.write(`annal: ${message}\n`);
  return code;
}

/** @param people who can sign in. */
function describeCommands(people: string): CAC {
  const cli = cac('annal');
  cli
    .option('--json', 'Print data for programs instead of text for people')
    .option('--data-dir <folder>', 'Folder of the service on this machine (default: DATA_DIR, else .annal)')
    .example('annal import ./records')
    .example('annal history 018f…')
    .help()
    .version(version());

  withService(
    cli
      .command('import <...sources>', 'Load bundles and NDJSON: files, folders, or - for standard input')
      .option('--concurrency <n>', 'Records that are sent at a time (default: 4)')
      .option('--source-system <name>', 'Name of the system that the data come from, for their Provenance')
      .option('--author-type <type>', `Who wrote them: ${AUTHOR_TYPES.join(', ')} (default: import)`)
      .option('--state <file>', 'Where to remember what was loaded (default: below the data folder)')
      .option(
        '--skip-invalid',
        'Load records without their invalid resources, and name those in the report file',
      )
      .option('--report <file>', 'Write the report as JSON (default with --skip-invalid: beside the state)')
      .option('--again', 'Load everything once more, even what an earlier import loaded')
      .example('annal import ./synthea/fhir --source-system "General Hospital"')
      .example('annal import Patient.ndjson Observation.ndjson'),
  ).action(async (sources: string[], options: unknown) => {
    const { importCommand } = await import('./import/run.ts');
    const named = sources.map((source) => (source === STANDARD_INPUT ? '-' : source));
    return interruptible((signal) => importCommand(named, { ...read(options), signal }));
  });

  withService(
    cli
      .command('show <resource>', 'Print a resource: Type/id, Type/id/_history/n, or a patient’s id')
      .example('annal show Observation/018f…/_history/2'),
  ).action(async (resource: string, options: unknown) => {
    const { showCommand } = await import('./show.ts');
    return showCommand(resource, read(options));
  });

  cli
    .command('patients <...name>', 'List patients by name or identifier, of all projects')
    .example('annal patients mira sand')
    .example('annal patients 0012-34')
    .action(async (name: string[], options: unknown) => {
      const { patientsCommand } = await import('./patients.ts');
      return patientsCommand(name.join(' '), read(options));
    });

  cli
    .command(
      'history <...resource>',
      'Print who wrote which version, and what changed: of a patient’s record, of Type/id, or of a stream',
    )
    .option('--html <file>', 'Write it as a page instead')
    .example('annal history 018f… --html history.html')
    .example('annal history mira sand')
    .example('annal history project-proj_… --json')
    .action(async (resource: string[], options: unknown) => {
      const { historyCommand } = await import('./history.ts');
      return historyCommand(resource.join(' '), read(options));
    });

  cli
    .command('record <...patient>', 'Print a patient’s record as of any moment, rebuilt from its events')
    .option('--at <time>', 'A date, a date-time with an offset, revision:N or position:N (default: now)')
    .example('annal record 018f… --at 2026-03-01')
    .example('annal record 018f… --at 2026-03-01T09:30:00+01:00')
    .action(async (patient: string[], options: unknown) => {
      const { recordCommand } = await import('./record.ts');
      return recordCommand(patient.join(' '), read(options));
    });

  cli
    .command('context <manifest>', 'Print a context of /v1/context again, made from the events')
    .example('annal context ctx_…')
    .example('annal context ctx_… --json')
    .action(async (manifest: string, options: unknown) => {
      const { contextCommand } = await import('./context.ts');
      return contextCommand(manifest, read(options));
    });

  cli
    .command(
      'export <patient>',
      'Write the whole history of a record, or of a stream, as one signed file that proves itself',
    )
    .option('--out <file>', 'The file to write; compressed when it ends with .gz')
    .example('annal export 018f… --out record.ndjson')
    .action(async (patient: string, options: unknown) => {
      const { out, ...others } = read(options);
      if (out === undefined) return refuse('annal export needs --out <file>', 2);
      const { exportCommand } = await import('./export.ts');
      return exportCommand(patient, { out, ...others });
    });

  cli
    .command('checkpoint', 'Sign where the history of every stream ends now, so that it can be proved later')
    .option('--out <file>', 'The file to write; compressed when it ends with .gz')
    .example(
      '# signs with AUDIT_KEY_FILE, else DATA_DIR/audit-key.pem, and makes that key when there is none',
    )
    .example('annal checkpoint --out checkpoint-2026-03-01.ndjson.gz')
    .action(async (options: unknown) => {
      const { out, ...others } = read(options);
      if (out === undefined) return refuse('annal checkpoint needs --out <file>', 2);
      const { checkpointCommand } = await import('./checkpoint.ts');
      return interruptible((signal) => checkpointCommand({ out, ...others, signal }));
    });

  cli
    .command('verify', 'Derive the read models anew from the log, compare them, and check the hash chains')
    .option('--checkpoint <file>', 'Prove that no history up to this checkpoint was altered')
    .option('--key <key>', 'The public key that the checkpoint is signed with (default: the one of DATA_DIR)')
    .example('annal verify')
    .example('annal verify --checkpoint checkpoint-2026-03-01.ndjson.gz --key 11qYAYKx…')
    .action(async (options: unknown) => {
      const { key, checkpoint } = read(options);
      if (key !== undefined && checkpoint === undefined)
        return refuse('annal verify --key needs --checkpoint <file>', MISUNDERSTOOD);
      const { verifyCommand } = await import('./verify.ts');
      return interruptible((signal) => verifyCommand({ ...read(options), signal }));
    });

  cli
    .command('sql', 'Read the database in SQL: statements of -c, of standard input, or typed one by one')
    .option('--read-only', 'Must be given: nothing can be written')
    .option('-c, --command <sql>', 'Statements to run, separated by semicolons')
    .example('annal sql --read-only -c "select type, count(*) from resources.resource group by 1"')
    .example("annal sql --read-only -c '\\dt'")
    .action(async (options: unknown) => {
      const { sqlCommand } = await import('./sql/command.ts');
      return sqlCommand(read(options));
    });

  cli
    .command('parked', 'List events that a process could not act on and has set aside')
    .option('--retry', 'Have them tried again now')
    .example('annal parked --retry')
    .action(async (options: unknown) => {
      const { parkedCommand } = await import('./parked.ts');
      return parkedCommand(read(options));
    });

  cli
    .command('scavenge', 'Remove what was purged from the files of the event store and of the database')
    .action(async (options: unknown) => {
      const { scavengeCommand } = await import('./scavenge.ts');
      return scavengeCommand(read(options));
    });

  cli
    .command(
      'rebuild [...projections]',
      'Build read models anew beside the serving ones and swap them in (default: all)',
    )
    .option('--force', 'Swap although rebuilt rows differ from the serving ones')
    .example('annal rebuild history')
    .option('--fresh', 'Begin anew instead of going on from a rebuild that was stopped')
    .option('--load <load>', 'full: as fast as it goes (default); low: reads of the service hardly notice')
    .option('--restored', 'All of them, after an older log was restored under them; the service is stopped')
    .action(async (projections: string[], options: unknown) => {
      if (read(options).restored === true) {
        if (projections.length > 0) return refuse('--restored rebuilds all: name no projection', 2);
        const { rebuildRestored } = await import('./restored.ts');
        return interruptible((signal) => rebuildRestored({ ...read(options), signal }));
      }
      const { rebuildCommand } = await import('./rebuild.ts');
      return interruptible((signal) => rebuildCommand(projections, { ...read(options), signal }));
    });

  cli
    .command('migrate-log', 'Move the log to another store while the service runs')
    .option(
      '--from <log>',
      'postgres://…, esdb://…, or database: the service’s own (default: where it is now)',
    )
    .option('--to <log>', 'Where it is to be')
    .option('--cutover', 'Close the old log, and bring over what the service remembers of it')
    .option('--cancel', 'Let writes into --from again, after a cutover that was given up')
    .example('annal migrate-log --from database --to esdb://localhost:2113?tls=false')
    .action(async (options: unknown) => {
      const { to, ...others } = read(options);
      if (to === undefined) return refuse('annal migrate-log needs --to <log>', 2);
      const { migrateLogCommand } = await import('./migrate-log.ts');
      return interruptible((signal) => migrateLogCommand({ to, ...others, signal }));
    });

  cli
    .command(
      'terminology <action> [...files]',
      'load: a code system from your own files; list: what there is',
    )
    .option('--system <name>', 'Of load: loinc, atc, icd10 or snomed')
    .option('--release <version>', 'Of load: the version of the code system, as its publisher writes it')
    .example('annal terminology load Loinc.csv --system loinc --release 2.78')
    .example('annal terminology list')
    .action(async (action: string, files: string[], options: unknown) => {
      const { terminologyCommand } = await import('./terminology.ts');
      return interruptible((signal) => terminologyCommand(action, files, { ...read(options), signal }));
    });

  withService(
    cli
      .command('webhooks <action>', 'listen: receive, verify and print webhook deliveries on this machine')
      .option('--events <types>', 'Which, separated by commas (default: all)')
      .option('--port <port>', 'Where to listen (default: any free port)')
      .option(
        '--secret <secret>',
        'Of an endpoint that leads here already; without it one is made, and deleted',
      )
      .example('annal webhooks listen --events resource.created,resource.updated'),
  ).action(async (action: string, options: unknown) => {
    const { webhooksCommand } = await import('./webhooks.ts');
    return interruptible((signal) => webhooksCommand(action, { ...read(options), signal }));
  });

  cli
    .command(
      'production <action> <project>',
      'allow: a project may make keys of production, where PRODUCTION_ACCESS is request; withdraw: no more',
    )
    .example('annal production allow proj_…')
    .action(async (action: string, project: string, options: unknown) => {
      const { productionCommand } = await import('./production.ts');
      return productionCommand(action, project, read(options));
    });

  cli
    .command('dev-token', 'Print an ID token of the development issuer, for scripts that call /admin')
    .option('--email <address>', 'Whom it speaks of: any address, nothing is sent there')
    .option('--patient <who>', 'Instead: a synthetic patient, by number or name (below)')
    .example('annal dev-token --email developer@example.org')
    .example(people)
    .action(async (options: unknown) => {
      const { devTokenCommand } = await import('./dev-token.ts');
      return devTokenCommand(read(options));
    });

  return cli;
}

/** Work that SIGINT and SIGTERM stop at the next step, so that the same command can go on from there. */
async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupted = new AbortController();
  const stop = () => interrupted.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    return await work(interrupted.signal);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

function withService(command: ReturnType<CAC['command']>): ReturnType<CAC['command']> {
  return command
    .option('--url <url>', 'The service (default: the one on the data folder)')
    .option('--key <key>', 'An API key (default: ANNAL_KEY, else the one in quickstart.json)');
}

function version(): string {
  const file = new URL('../../package.json', import.meta.url);
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, 'utf8'))).version;
}
