/** Defines the commands: arguments, help, and the module that implements each command and is loaded only when needed. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { z } from 'zod';
import { AUTHOR_TYPES } from '#src/shared/access/author.ts';
import { Failure, MISUNDERSTOOD } from './failure.ts';
import { type Options, readOptions, readWords } from './options.ts';

/** The help text of `scavenge`, shown after its options. */
const SCAVENGE = `
A purge makes a record unreadable at once; its bytes stay in files until this
command removes them. You can run it while the service runs: requests that use a
table wait while it is rewritten, and the largest table needs disk space for a
second copy. The write-ahead log is rewritten if the database role is a superuser.
EventStoreDB scavenges only the node that answers, so scavenge a cluster's other
nodes too. Backups still contain the data.

More: docs/eventstoredb.md#scavenge`;

/**
 * Runs a command.
 * @returns the command's exit code; anything other than a number is treated as 0.
 */
type Work = (words: readonly string[], options: Options) => Promise<unknown>;

/** The command-line parser, and the exit code of the command that was run. */
export interface CommandLine {
  readonly program: Command;
  readonly outcome: { code: number };
}

/**
 * Defines every command.
 * @param people who can sign in; listed in the help text of `dev-token`.
 * @returns a parser that throws CommanderError instead of exiting, and prints only help and version.
 */
export function describeCommands(people: string): CommandLine {
  const outcome = { code: 0 };
  const program = new Command('annal')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .configureHelp({
      subcommandTerm: (command) =>
        [command.name(), ...command.registeredArguments.map(writeUsage)].filter(Boolean).join(' '),
    })
    .showSuggestionAfterError(false)
    // All words after the command's name belong to the command, because their values may look like options of the program.
    .enablePositionalOptions()
    .helpOption('-h, --help', 'Print this help')
    .helpCommand(false)
    .version(version(), '-v, --version', 'Print the version number');

  const command = (usage: string, description: string): Command =>
    program.command(usage).description(description);
  const does = (described: Command, work: Work): Command =>
    described.action(async () => {
      const code = await work(readWords(described), readOptions(described));
      outcome.code = typeof code === 'number' ? code : 0;
    });

  does(
    examples(
      withService(
        command('import <sources...>', 'Load bundles and NDJSON: files, folders, or - for standard input'),
      )
        .option('--concurrency <n>', 'Number of records to send at a time (default: 4)')
        .option('--source-system <name>', 'Name of the system the data comes from, for its Provenance')
        .option('--author-type <type>', `Who wrote the data: ${AUTHOR_TYPES.join(', ')} (default: import)`)
        .option('--state <file>', 'Where to store which resources were loaded (default: in the data folder)')
        .option('--skip-invalid', 'Leave out invalid resources and list them in the report file')
        .option('--report <file>', 'Write the report as JSON (default with --skip-invalid: beside the state)')
        .option('--again', 'Load everything again, including resources that an earlier import loaded'),
      'annal import ./synthea/fhir --source-system "General Hospital"',
      'annal import Patient.ndjson Observation.ndjson',
    ),
    async (sources, options) => {
      const { importCommand } = await import('./import/run.ts');
      return interruptible((signal) => importCommand(sources, { ...options, signal }));
    },
  );

  does(
    examples(
      withService(
        command(
          'show <resource...>',
          'Print a resource: Type/id, Type/id/_history/n, or a patient by name or identifier',
        ),
      ),
      'annal show Observation/018f…/_history/2',
      'annal show mira sand',
    ),
    async (words, options) => {
      const { showCommand } = await import('./record/show.ts');
      return showCommand(words.join(' '), options);
    },
  );

  does(
    examples(
      command('patients <name...>', 'List patients in all projects by name or identifier')
        .option('--project <project>', 'List only patients in this project (id or name)')
        .option('--deleted', 'Include deleted patients (default: only if no other patient matches)'),
      'annal patients mira sand',
      'annal patients 0012-34',
    ),
    async (words, options) => {
      const { patientsCommand } = await import('./record/patients.ts');
      return patientsCommand(words.join(' '), options);
    },
  );

  does(
    examples(
      command(
        'history <resource...>',
        'Print who wrote which version and what changed, for a patient’s record, a resource (Type/id) or a stream',
      ).option('--html <file>', 'Write an HTML page instead'),
      'annal history 018f… --html history.html',
      'annal history mira sand',
      'annal history project-proj_… --json',
    ),
    async (words, options) => {
      const { historyCommand } = await import('./record/history.ts');
      return historyCommand(words.join(' '), options);
    },
  );

  does(
    examples(
      command(
        'record <patient...>',
        'Print a patient’s record as of any point in time, computed from its events',
      ).option('--at <time>', 'A date, a date-time with an offset, revision:N or position:N (default: now)'),
      'annal record 018f… --at 2026-03-01',
      'annal record 018f… --at 2026-03-01T09:30:00+01:00',
    ),
    async (words, options) => {
      const { recordCommand } = await import('./record/record.ts');
      return recordCommand(words.join(' '), options);
    },
  );

  does(
    examples(
      command(
        'grants [patient...]',
        'List the grants of a patient, an application or a project as of any point in time: who allowed what, and until when',
      )
        .option('--application <application>', 'Only grants to this application (id or client id)')
        .option('--project <project>', 'Only grants to this project’s applications (id or name)')
        .option('--environment <environment>', 'With --project: sandbox or production (default: sandbox)')
        .option('--at <time>', 'A date or a date-time with an offset (default: now)'),
      'annal grants mira sand',
      'annal grants 018f… --at 2026-03-01',
      'annal grants --application app_… --json',
    ),
    async (words, options) => {
      const { grantsCommand } = await import('./record/grants.ts');
      return grantsCommand(words.join(' '), options);
    },
  );

  does(
    examples(
      command(
        'access-log [patient...]',
        'List who read which patients’ data, by patient, application, API key and time',
      )
        .option('--application <application>', 'Only reads by this application (id or client id)')
        .option('--key <key>', 'Only reads with this API key (its id)')
        .option('--from <time>', 'From the beginning of this year, month or day, or this date-time')
        .option('--to <time>', 'Up to the end of this year, month or day, or up to this date-time')
        .option('--patients', 'Print one line for each patient instead of each read'),
      'annal access-log mira sand',
      'annal access-log --application app_… --from 2026-03 --to 2026-03 --patients',
      'annal access-log --key key_… --from 2026-03-01T09:00:00Z --json',
    ),
    async (words, options) => {
      const { accessLogCommand } = await import('./record/access-log.ts');
      return accessLogCommand(words.join(' '), options);
    },
  );

  does(
    examples(
      command(
        'context <manifest>',
        'Print an earlier answer from POST /v1/context, made again from the events',
      ),
      'annal context ctx_…',
      'annal context ctx_… --json',
    ),
    async ([manifest = ''], options) => {
      const { contextCommand } = await import('./record/context.ts');
      return contextCommand(manifest, options);
    },
  );

  does(
    examples(
      command(
        'receipt <id>',
        'Regenerate an earlier answer from the events, and say whether it matches the answer that was sent',
      ).option('--content', 'Print the answer, byte for byte, instead of its receipt'),
      'annal receipt rcpt_…',
      'annal receipt rcpt_… --content',
    ),
    async ([id = ''], options) => {
      const { receiptCommand } = await import('./record/receipt.ts');
      return receiptCommand(id, options);
    },
  );

  does(
    examples(
      command(
        'export <patient...>',
        'Write the whole history of a record or stream to a signed file that can be verified without the service',
      ).option('--out <file>', 'The file to write; compressed if it ends with .gz'),
      'annal export 018f… --out record.ndjson',
    ),
    async (words, { out, ...others }) => {
      if (out === undefined) throw new Failure('annal export needs --out <file>', MISUNDERSTOOD);
      const { exportCommand } = await import('./record/export.ts');
      return interruptible((signal) => exportCommand(words.join(' '), { out, ...others, signal }));
    },
  );

  does(
    examples(
      command(
        'checkpoint',
        'Sign the current end of every stream, so that later changes to history can be detected',
      )
        .option('--out <file>', 'The file to write; compressed if it ends with .gz')
        .option('--keep', 'Keep it in the database, where auditors can list and download it'),
      '# signs with AUDIT_KEY_FILE, or else DATA_DIR/audit-key.pem, which is created if missing',
      'annal checkpoint --out checkpoint-2026-03-01.ndjson.gz',
    ),
    async (_words, { out, keep = false, ...others }) => {
      if ((out === undefined) === !keep)
        throw new Failure('annal checkpoint needs either --out <file> or --keep', MISUNDERSTOOD);
      const { checkpointCommand } = await import('./verify/checkpoint.ts');
      return interruptible((signal) =>
        checkpointCommand({ ...(out === undefined ? { keep } : { out }), ...others, signal }),
      );
    },
  );

  does(
    examples(
      command('verify', 'Check the hash chains, and compare the read models with the log')
        .option('--checkpoint <file>', 'Check that no history up to this checkpoint was altered')
        .option('--key <key>', 'The public key that signed the checkpoint (default: the one in DATA_DIR)')
        .option('--project <id>', 'Check only the records, the directory and the settings of one project')
        .option('--patient <id>', 'Check only one patient’s record'),
      'annal verify',
      'annal verify --checkpoint checkpoint-2026-03-01.ndjson.gz --key 11qYAYKx…',
    ),
    async (_words, options) => {
      if (options.key !== undefined && options.checkpoint === undefined)
        throw new Failure('annal verify --key needs --checkpoint <file>', MISUNDERSTOOD);
      if (options.checkpoint !== undefined && (options.project ?? options.patient) !== undefined)
        throw new Failure(
          'annal verify --checkpoint checks everything: leave out --project and --patient',
          MISUNDERSTOOD,
        );
      const { verifyCommand } = await import('./verify/verify.ts');
      return interruptible((signal) => verifyCommand({ ...options, signal }));
    },
  );

  does(
    examples(
      command(
        'sql [statements...]',
        'Query the database with SQL: statements from the command line or standard input, or interactively',
      )
        .option('--read-only', 'Required: the session cannot write')
        .option('-c, --command <sql>', 'Statements to run, separated by semicolons'),
      'annal sql --read-only -c "select type, count(*) from resources.resource group by 1"',
      "annal sql --read-only -c '\\dt'",
    ),
    async (words, options) => {
      if (words.length > 0 && options.command !== undefined)
        throw new Failure(
          'annal sql takes statements either with -c or as an argument, not both',
          MISUNDERSTOOD,
        );
      const { sqlCommand } = await import('./sql/command.ts');
      return sqlCommand({ ...options, ...(words.length > 0 ? { command: words.join(' ') } : {}) });
    },
  );

  does(
    examples(
      command('explain <search>', 'Explain how the FHIR interface finds the matches of a search')
        .option('--project <project>', 'The project: its id or its name (default: the only one)')
        .option('--environment <environment>', 'sandbox or production (default: sandbox)')
        .option('--analyze', 'Run the search, and print PostgreSQL’s EXPLAIN ANALYZE of each statement'),
      'annal explain "Observation?code=8480-6&_sort=-date&_count=10"',
      'annal explain "Patient?name=mira" --analyze',
    ),
    async ([search = ''], options) => {
      const { explainCommand } = await import('./explain.ts');
      return explainCommand(search, options);
    },
  );

  does(
    examples(
      command('parked', 'List parked events, which a process could not handle').option(
        '--retry',
        'Retry them now',
      ),
      'annal parked --retry',
    ),
    async (_words, options) => {
      const { parkedCommand } = await import('./store/parked.ts');
      return parkedCommand(options);
    },
  );

  does(
    examples(
      command(
        'takeback [action] [id]',
        'Take back what a source system, an API key, an application or an AI wrote. Without an action: plan the take-back; start, undo, status: carry it out, undo it, show it',
      )
        .option('--project <id>', 'Project that owns the records')
        .option('--environment <name>', 'sandbox or production (default: production)')
        .option('--source-system <name>', 'Data that came from this system')
        .option('--key <id>', 'Data written with this API key (its id, key_…)')
        .option('--application <id>', 'Data that this application wrote (app_…)')
        .option('--author-type <type>', `Data that authors of this type wrote: ${AUTHOR_TYPES.join(', ')}`)
        .option('--model <name>', 'With --author-type ai: only data that this model wrote')
        .option('--since <moment>', 'Only versions written at this time or later')
        .option('--until <moment>', 'Only versions written before this time (default: now)')
        .option('--reason <text>', 'The reason, which patients can read'),
      'annal takeback --project proj_… --source-system "Ward 3 analyser" --since 2026-11-01T00:00:00Z',
      'annal takeback start tb_…',
      'annal takeback undo tb_…',
    ),
    async ([action = 'new', id = ''], options) => {
      const { takebackCommand } = await import('./takeback/command.ts');
      return interruptible((signal) => takebackCommand(action, id, { ...options, signal }));
    },
  );

  does(
    command('scavenge', 'Remove purged data from the files of the event store and the database').addHelpText(
      'after',
      SCAVENGE,
    ),
    async (_words, options) => {
      const { scavengeCommand } = await import('./store/scavenge.ts');
      return scavengeCommand(options);
    },
  );

  does(
    examples(
      command(
        'oauth-keys [action]',
        'List the keys that sign ID tokens (list), or make the next one (rotate)',
      ).option(
        '--now',
        'With rotate, for a key that leaked: the new key signs at once, and no earlier key stays published',
      ),
      'annal oauth-keys',
      'annal oauth-keys rotate',
      'annal oauth-keys rotate --now',
    ),
    async ([action = 'list'], options) => {
      const { oauthKeysCommand } = await import('./project/oauth-keys.ts');
      return oauthKeysCommand(action, options);
    },
  );

  does(
    examples(
      command(
        'rebuild [projections...]',
        'Rebuild read models from the log while the service runs (default: all of them)',
      )
        .option('--force', 'Use the rebuilt tables even if rows differ from the current ones')
        .option('--fresh', 'Start over instead of continuing an interrupted rebuild')
        .option(
          '--load <load>',
          'full: as fast as possible (default); low: slower, with little effect on requests',
        )
        .option('--restored', 'Rebuild everything after you restored an older log; stop the service first'),
      'annal rebuild history',
    ),
    async (projections, options) => {
      if (options.restored === true) {
        if (projections.length > 0)
          throw new Failure("--restored rebuilds every projection: don't name any", MISUNDERSTOOD);
        const { rebuildRestored } = await import('./store/restored.ts');
        return interruptible((signal) => rebuildRestored({ ...options, signal }));
      }
      const { rebuildCommand } = await import('./store/rebuild.ts');
      return interruptible((signal) => rebuildCommand(projections, { ...options, signal }));
    },
  );

  does(
    examples(
      command('migrate-log', 'Move the event log to another store while the service runs')
        .option(
          '--from <log>',
          'postgres://…, esdb://…, or `database` for the service’s own database (default: where the log is now)',
        )
        .option('--to <log>', 'The new place of the log, in the same form')
        .option('--cutover', 'Close the old log and switch the service’s positions to the new one')
        .option('--cancel', 'Allow writes to --from again, after a cutover that you abandoned'),
      'annal migrate-log --from database --to esdb://localhost:2113?tls=false',
    ),
    async (_words, { to, ...others }) => {
      if (to === undefined) throw new Failure('annal migrate-log needs --to <log>', MISUNDERSTOOD);
      const { migrateLogCommand } = await import('./store/migrate-log.ts');
      return interruptible((signal) => migrateLogCommand({ to, ...others, signal }));
    },
  );

  does(
    examples(
      command(
        'terminology <action> [files...]',
        'load: load a code system, or symptoms, conditions and treatments, from your own files; list: list the code systems',
      )
        .option('--system <name>', 'For load: loinc, atc, icd10, snomed or concepts')
        .option('--release <version>', 'For load: the version of the code system, as its publisher names it')
        .option('--lang <tag>', 'For load of concepts: the language of the file (default: en)'),
      'annal terminology load Loinc.csv --system loinc --release 2.78',
      'annal terminology load symptoms.de.csv --system concepts --lang de',
      'annal terminology list',
    ),
    async ([action = '', ...files], options) => {
      const { terminologyCommand } = await import('./terminology.ts');
      return interruptible((signal) => terminologyCommand(action, files, { ...options, signal }));
    },
  );

  does(
    examples(
      withService(
        command('webhooks <action>', 'listen: receive, verify and print webhook deliveries on this machine'),
      )
        .option('--events <types>', 'Event types, separated by commas (default: all)')
        .option('--port <port>', 'Port to listen on (default: any free port)')
        .option(
          '--secret <secret>',
          'Secret of an existing endpoint with this address (default: create an endpoint, and delete it at the end)',
        ),
      'annal webhooks listen --events resource.created,resource.updated',
    ),
    async ([action = ''], options) => {
      const { webhooksCommand } = await import('./project/webhooks.ts');
      return interruptible((signal) => webhooksCommand(action, { ...options, signal }));
    },
  );

  does(
    examples(
      withService(
        command(
          'mcp',
          'Serve the /mcp tools over standard input and output, for an assistant on this machine',
        ),
      ),
      'annal mcp --url http://localhost:3000 --key sk_test_…',
    ),
    async (_, options) => {
      const { mcpCommand } = await import('./mcp.ts');
      return interruptible((signal) => mcpCommand({ ...options, version: version(), signal }));
    },
  );

  does(
    examples(
      command(
        'production <action> [project]',
        'list: list requests for production; allow: let a project create production keys and applications; refuse: refuse its request; withdraw: end that permission',
      ).option('--reason <text>', 'For refuse: the reason, which the project’s members can read'),
      'annal production list',
      'annal production allow proj_…',
      'annal production refuse proj_… --reason "Confirm your domain first"',
    ),
    async ([action = '', project = ''], options) => {
      const { productionCommand } = await import('./project/production.ts');
      return productionCommand(action, project, options);
    },
  );

  does(
    examples(
      command(
        'applications [action] [application]',
        'trust: let an application use the identity grant, which gives it grants without the consent page; withdraw: end that trust; block: refuse guests from a host and end their grants; unblock: accept guests from that host again',
      ).option(
        '--guests',
        'List guests: clients that nobody registered, identified by their metadata documents',
      ),
      'annal applications trust app_…',
      'annal applications --guests',
      'annal applications block app.example.org',
    ),
    async ([action = '', subject = ''], options) => {
      const { applicationsCommand } = await import('./project/applications.ts');
      return applicationsCommand(action, subject, options);
    },
  );

  does(
    examples(
      command('dev-token', 'Print an ID token from the development issuer, for scripts that call /admin')
        .option('--email <address>', 'E-mail address of the person; nothing is sent to it')
        .option('--patient <who>', 'A synthetic patient instead, by number or name (see below)'),
      'annal dev-token --email developer@example.org',
    ).addHelpText('after', people),
    async (_words, options) => {
      const { devTokenCommand } = await import('./project/dev-token.ts');
      return devTokenCommand(options);
    },
  );

  for (const each of [program, ...program.commands]) withCommon(each);
  examples(program, 'annal import ./records', 'annal history 018f…');
  return { program, outcome };
}

/** Adds the options that every command accepts; they may also precede the command. */
function withCommon(command: Command): Command {
  return command
    .option('--json', 'Print JSON for programs instead of text')
    .option(
      '--data-dir <folder>',
      'Data folder of the service on this machine (default: DATA_DIR, else .annal)',
    );
}

function withService(command: Command): Command {
  return command
    .option('--url <url>', 'URL of the service (default: the service that uses the data folder)')
    .option('--key <key>', 'An API key (default: ANNAL_KEY, else the one in quickstart.json)');
}

function examples(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`);
}

function writeUsage(argument: Command['registeredArguments'][number]): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** How long a command may take to stop after the service that started it has died, in ms. */
const ORPHAN_MS = 3_000;

/**
 * Runs work that stops at its next step on SIGINT or SIGTERM; running the same command again continues from there. A service
 * that starts the command as a job holds a channel to it; when the channel closes, the command stops too.
 */
async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupted = new AbortController();
  const stop = () => interrupted.abort();
  const orphaned = () => {
    stop();
    setTimeout(() => process.exit(1), ORPHAN_MS).unref();
  };
  process.once('SIGINT', stop).once('SIGTERM', stop).once('disconnect', orphaned);
  try {
    return await work(interrupted.signal);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop).off('disconnect', orphaned);
  }
}

function version(): string {
  const file = new URL('../../package.json', import.meta.url);
  const read = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, 'utf8'))).version;
  return `annal/${read} ${process.platform}-${process.arch} node-${process.version}`;
}
