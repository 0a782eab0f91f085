import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  isKernelVersion,
  parseRuleOverride,
  type KernelVersion,
  type RuleOverrides,
} from '../../src/mm/kernel_rules';
import {
  compareRecording,
  nearestRules,
  type CompareOptions,
  type Comparison,
  type Difference,
} from './compare';
import { recordingText, shrinkDifference } from './find_difference';
import { RecorderProgram } from './recorder_program';
import { packRecording, readRecording, withoutLastSequence, type Recording } from './recording';

/**
 * `npm run test:kernel`: random calls on a real kernel, each held against what the rules predict. README.md lists the
 * options. Exit status: 0 all equal, 1 a difference, 2 wrong usage, 3 it cannot run here.
 */

/** What the short form does: about 20 seconds. */
const SHORT = 60_000;
/** Calls in one start of the recorder: the recording stays a few megabytes. */
const BATCH = 20_000;

interface Options {
  readonly calls: number;
  readonly seed: number;
  readonly weights: string | undefined;
  /** Where the recording is kept, compressed; it is made in one go then. */
  readonly save: string | undefined;
  readonly runner: readonly string[];
  readonly mapRoom: number | undefined;
  readonly kernel: KernelVersion | undefined;
  readonly rules: RuleOverrides;
}

/** Runs the command with the words after its name; returns the exit status. `project` is the project's folder. */
export function main(args: readonly string[], project: string, print: (text: string) => void): number {
  const options = readOptions(args);
  if (typeof options === 'string') {
    print(options);
    return 2;
  }
  const recorder = new RecorderProgram({ project, runner: options.runner, mapRoom: options.mapRoom });
  const missing = recorder.build();
  if (missing !== undefined) {
    print(missing);
    return 3;
  }
  return new Run(options, recorder, print).run();
}

class Run {
  private calls = 0;
  private free = 0;
  private lost = 0;
  /** Milliseconds spent in the kernel that is recorded. */
  private recorded = 0;
  private readonly started = performance.now();

  constructor(
    private readonly options: Options,
    private readonly recorder: RecorderProgram,
    private readonly print: (text: string) => void,
  ) {}

  run(): number {
    const { seed, calls, weights } = this.options;
    for (let batch = 0; this.calls < calls; batch++) {
      const size = this.options.save === undefined ? Math.min(BATCH, calls - this.calls) : calls;
      const before = performance.now();
      const text = this.recorder.random(seed + batch, size, weights);
      this.recorded += performance.now() - before;
      const recording = this.readComplete(text, seed + batch);
      if (recording === undefined) return 3;
      const compareOptions = this.compareOptions(recording);
      if (batch === 0) this.announce(recording, compareOptions.kernel);
      const comparison = compareRecording(recording, compareOptions);
      this.calls += comparison.calls;
      this.free += comparison.free;
      const first = comparison.differences[0];
      if (first !== undefined) {
        this.failed(recording, comparison, first, seed + batch, compareOptions);
        return 1;
      }
      if (this.options.save !== undefined) {
        writeFileSync(this.options.save, packRecording(text));
        break;
      }
      this.progress();
    }
    this.print(
      `${this.calls} calls: every result and every VMA list as the kernel has them ` +
        `(${this.seconds()} s, ${Math.round(this.recorded / 1000)} of them to record)`,
    );
    if (this.lost > 0) this.print(`${this.lost} sequences were lost and not compared`);
    return this.lost > 0 ? 3 : 0;
  }

  /** The sequences that came to their end; undefined if there is none, or if all are needed. */
  private readComplete(text: string, seed: number): Recording | undefined {
    const whole = readRecording(text);
    if (whole.complete) return whole;
    this.lost++;
    const complete = readRecording(withoutLastSequence(text));
    const sequence = /# sequence (\d+)(?![^]*# sequence )/.exec(text)?.[1] ?? '0';
    this.print(`seed ${seed}: a process was lost in sequence ${sequence}`);
    return complete.records.length === 0 || this.options.save !== undefined ? undefined : complete;
  }

  private compareOptions(recording: Recording): CompareOptions {
    return {
      kernel: this.options.kernel ?? nearestRules(recording.release),
      rules: this.options.rules,
    };
  }

  private announce(recording: Recording, kernel: KernelVersion): void {
    const lacks = recording.without.length === 0 ? '' : `, without ${recording.without.join(', ')}`;
    this.print(`kernel ${recording.release}${lacks}; rules of ${kernel}; seed ${this.options.seed}`);
  }

  private progress(): void {
    if (this.calls < this.options.calls) this.print(`${this.calls} calls, ${this.seconds()} s`);
  }

  private failed(
    recording: Recording,
    comparison: Comparison,
    first: Difference,
    seed: number,
    options: CompareOptions,
  ): void {
    this.print(
      `seed ${seed}: ${comparison.differences.length} sequences differ; ` +
        `${comparison.results} results and ${comparison.maps} VMA lists of ${comparison.calls}`,
    );
    this.print(explain(first));
    this.print('shrinking…');
    const shrunk = shrinkDifference(recording, first, options, (script) => this.recorder.script(script));
    if (shrunk === undefined) {
      this.print(
        'The same calls, run again, agree with the rules: it depends on something that the trace does not show.',
      );
      return;
    }
    this.print(explain(shrunk.difference));
    this.print('To keep it as a test, put this into test/fixtures/kernel/found/NAME.rec:\n');
    this.print(recordingText(shrunk.recording, shrunk.difference.line));
  }

  private seconds(): number {
    return Math.round((performance.now() - this.started) / 1000);
  }
}

function explain(difference: Difference): string {
  const list = (title: string, vmas: readonly string[]): string[] =>
    vmas.length === 0 ? [] : [title, ...vmas.map((vma) => `    ${vma}`)];
  return [
    difference.text,
    `  predicted ${difference.predicted}, recorded ${difference.recorded}`,
    ...list('  before', difference.before),
    ...list('  only in the replay', difference.ours),
    ...list('  only in the kernel', difference.kernels),
  ].join('\n');
}

/** Text for wrong usage. */
function readOptions(args: readonly string[]): Options | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        calls: { type: 'string', default: String(SHORT) },
        seed: { type: 'string' },
        weights: { type: 'string' },
        save: { type: 'string' },
        'kernel-runner': { type: 'string', default: '' },
        'map-room': { type: 'string' },
        rules: { type: 'string' },
        rule: { type: 'string', multiple: true, default: [] },
      },
    });
    const calls = Number(values.calls);
    const seed = values.seed === undefined ? Math.floor(Math.random() * 1e9) : Number(values.seed);
    if (!Number.isInteger(calls) || calls < 1) return `--calls takes a number, not ${values.calls}`;
    if (!Number.isInteger(seed) || seed < 0) return `--seed takes a number, not ${values.seed ?? ''}`;
    const kernel = values.rules;
    if (kernel !== undefined && !isKernelVersion(kernel)) return `no rules of ${kernel}`;
    const runner = values['kernel-runner'].split(' ').filter((word) => word !== '');
    const mapRoom = values['map-room'] === undefined ? undefined : Number(values['map-room']);
    if (mapRoom !== undefined && !(mapRoom >= 1)) return '--map-room takes a number';
    if (mapRoom !== undefined && runner.length === 0) {
      return '--map-room sets vm.max_map_count for the whole machine: only with --kernel-runner';
    }
    const rules = values.rule.map((text) => parseRuleOverride(text));
    const wrong = rules.indexOf(undefined);
    if (wrong >= 0) return `no such rule or value: ${values.rule[wrong] ?? ''}`;
    return {
      calls,
      seed,
      weights: values.weights,
      save: values.save,
      runner,
      mapRoom,
      kernel,
      rules: Object.assign({}, ...rules) as RuleOverrides,
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
