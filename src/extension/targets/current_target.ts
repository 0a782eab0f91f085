import * as vscode from 'vscode';
import type { SourceError } from '../../node/source_error';
import type { AddressSpace, Target } from './target';

/** What is known of the selected target. */
export type TargetState =
  | { readonly kind: 'none' }
  | { readonly kind: 'reading'; readonly target: Target; readonly last: AddressSpace | undefined }
  | { readonly kind: 'shown'; readonly target: Target; readonly space: AddressSpace }
  | { readonly kind: 'failed'; readonly target: Target; readonly error: SourceError };

/** Shows progress while `work` runs; calls `cancel` when a person has waited enough. */
export type Progress = <T>(work: () => Promise<T>, cancel: () => void) => Thenable<T>;

/** The selected target and what its last reading gave. A newer reading always wins over an older one. */
export class CurrentTarget implements vscode.Disposable {
  private current: TargetState = { kind: 'none' };
  private reading: AbortController | undefined;
  private readonly emitter = new vscode.EventEmitter<TargetState>();
  readonly onDidChange = this.emitter.event;

  constructor(private readonly progress: Progress) {}

  get state(): TargetState {
    return this.current;
  }

  get target(): Target | undefined {
    return this.current.kind === 'none' ? undefined : this.current.target;
  }

  /** Is something on show being read anew? Nothing that a view shows has changed yet. */
  get isReadingAgain(): boolean {
    return this.current.kind === 'reading' && this.current.last !== undefined;
  }

  /** The address space on show, also while it is read anew. */
  get space(): AddressSpace | undefined {
    if (this.current.kind === 'shown') return this.current.space;
    return this.current.kind === 'reading' ? this.current.last : undefined;
  }

  /** Selects a target and reads it. Returns why it could not be read, undefined for success. */
  async select(target: Target): Promise<SourceError | undefined> {
    const same = this.target?.id === target.id;
    return this.read(target, same ? this.space : undefined);
  }

  /** Reads the selected target again. */
  async refresh(): Promise<SourceError | undefined> {
    const target = this.target;
    return target === undefined ? undefined : this.read(target, this.space);
  }

  clear(): void {
    this.reading?.abort();
    this.reading = undefined;
    this.change({ kind: 'none' });
  }

  dispose(): void {
    this.reading?.abort();
    this.emitter.dispose();
  }

  private async read(target: Target, last: AddressSpace | undefined): Promise<SourceError | undefined> {
    this.reading?.abort();
    const reading = new AbortController();
    this.reading = reading;
    this.change({ kind: 'reading', target, last });
    try {
      const read = () => target.read(reading.signal);
      // An instant of a replay is there at once: a progress bar would only flicker at every step.
      const result = await (target.kind === 'replay' ? read() : this.progress(read, () => reading.abort()));
      if (this.reading !== reading) return undefined;
      if (result.ok) this.change({ kind: 'shown', target, space: result.value });
      else this.change({ kind: 'failed', target, error: result.error });
      return result.ok ? undefined : result.error;
    } catch (thrown) {
      // Our own mistake: say so where it is reported, and do not stay in "reading" for ever.
      if (this.reading === reading) this.change({ kind: 'none' });
      throw thrown;
    } finally {
      if (this.reading === reading) this.reading = undefined;
    }
  }

  private change(state: TargetState): void {
    this.current = state;
    this.emitter.fire(state);
  }
}
