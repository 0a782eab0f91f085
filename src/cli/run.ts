import { COMMANDS } from './commands/all';
import type { CliContext, Command } from './command';
import { EXIT_BUG, EXIT_INPUT, EXIT_OK, EXIT_OUTPUT, EXIT_USAGE, InputError, UsageError } from './failure';
import { Output, wantsColour, type ByteSink, type ColourChoice } from './output';
import type { ByteStream } from '../node/source_bytes';
import { productVersion } from '../node/source_product';

/** The process around the command line; tests give their own. */
export interface CliProcess {
  readonly stdout: ByteSink;
  readonly stderr: ByteSink;
  readonly stdin: ByteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  /** Folder of the installed product, which holds package.json and media. */
  readonly productRoot: string;
}

/** Runs `vmalens ARGS…` and gives the exit status (see failure.ts). Never throws. */
export async function runCli(argv: readonly string[], process: CliProcess): Promise<number> {
  const { args, choice } = takeColour(argv);
  const output = (sink: ByteSink): Output =>
    new Output(sink, wantsColour(choice ?? 'auto', sink.isTTY === true, process.env));
  const context: CliContext = {
    stdout: output(process.stdout),
    stderr: output(process.stderr),
    get stdin() {
      return process.stdin;
    },
    productRoot: process.productRoot,
    pid: process.pid,
  };
  const status = choice === undefined ? await badColour(context) : await dispatch(args, context);
  await context.stdout.flush();
  const { failure } = context.stdout;
  if (failure !== undefined)
    await context.stderr.line(`vmalens: the output cannot be written: ${failure.message}`);
  await context.stderr.flush();
  return failure === undefined ? status : EXIT_OUTPUT;
}

async function dispatch(args: readonly string[], context: CliContext): Promise<number> {
  const [name, ...rest] = args;
  if (name === '--version' || name === '-V') {
    await context.stdout.line(`vmalens ${await productVersion(context.productRoot)}`);
    return EXIT_OK;
  }
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    return generalHelp(context, name, rest);
  }
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command === undefined) {
    await context.stderr.line(`vmalens: there is no command '${name}'`);
    await context.stderr.line(
      `Commands: ${COMMANDS.map((each) => each.name).join(', ')}. More: vmalens --help`,
    );
    return EXIT_USAGE;
  }
  if (asksForHelp(rest)) {
    await context.stdout.raw(command.help);
    return EXIT_OK;
  }
  return runCommand(command, rest, context);
}

async function runCommand(command: Command, args: readonly string[], context: CliContext): Promise<number> {
  try {
    return await command.run(args, context);
  } catch (thrown) {
    await context.stdout.flush();
    if (thrown instanceof UsageError) {
      await context.stderr.line(
        `vmalens ${command.name}: ${thrown.message} (usage: vmalens ${command.name} --help)`,
      );
      return EXIT_USAGE;
    }
    if (thrown instanceof InputError) {
      await context.stderr.line(`vmalens: ${thrown.message}`);
      return EXIT_INPUT;
    }
    await context.stderr.line('vmalens: this is a mistake in vmalens, not in your input; please report it:');
    const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    await context.stderr.lines(text.split('\n'));
    return EXIT_BUG;
  }
}

async function generalHelp(
  context: CliContext,
  asked: string | undefined,
  rest: readonly string[],
): Promise<number> {
  const about = COMMANDS.find((command) => command.name === rest[0]);
  if (asked === 'help' && about !== undefined) {
    await context.stdout.raw(about.help);
    return EXIT_OK;
  }
  const width = Math.max(...COMMANDS.map((command) => command.name.length));
  const list = COMMANDS.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}\n`).join('');
  const out = asked === undefined ? context.stderr : context.stdout;
  await out.raw(GENERAL_HELP.replace('COMMANDS\n', () => list));
  return asked === undefined ? EXIT_USAGE : EXIT_OK;
}

const GENERAL_HELP = `Usage: vmalens COMMAND [ARGUMENTS]

Shows what is in a Linux process's address space, and why.

Commands:
COMMANDS
  vmalens COMMAND --help   how to use a command
  vmalens --version        the version

Everywhere: --color=auto|always|never (NO_COLOR is respected). A file may be -
for standard input, and may be compressed with gzip.
Exit status: 0 done, 1 a check found differences, 2 wrong usage, 3 input that
cannot be read.
`;

function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const before = end === -1 ? args : args.slice(0, end);
  return before.includes('--help') || before.includes('-h');
}

/** Takes `--color[=WHEN]` out of the arguments; `choice` is undefined for a WHEN that does not exist. */
function takeColour(argv: readonly string[]): { args: string[]; choice: ColourChoice | undefined } {
  const end = argv.indexOf('--');
  const args: string[] = [];
  let choice: ColourChoice | undefined = 'auto';
  argv.forEach((arg, i) => {
    const match = end === -1 || i < end ? /^--colou?r(?:=(.*))?$/s.exec(arg) : null;
    if (match === null) args.push(arg);
    else {
      const when = match[1] ?? 'always';
      choice = when === 'auto' || when === 'always' || when === 'never' ? when : undefined;
    }
  });
  return { args, choice };
}

async function badColour(context: CliContext): Promise<number> {
  await context.stderr.line('vmalens: --color takes auto, always or never');
  return EXIT_USAGE;
}
