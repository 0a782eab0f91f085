import * as vscode from 'vscode';
import { withoutLinks } from '../present/safe_text';
import type { SourceError } from '../node/source_error';

/** Something that a person must hear about. */
export type Failure =
  | { readonly kind: 'source'; readonly error: SourceError }
  /** A request that cannot be fulfilled, in words. */
  | { readonly kind: 'request'; readonly text: string }
  /** An exception that nobody expected. */
  | { readonly kind: 'bug'; readonly during: string; readonly thrown: unknown };

/** The one way in which errors reach a person: a notification that says what can be done, and the log. */
export class Reporter {
  constructor(private readonly log: vscode.LogOutputChannel) {}

  async report(failure: Failure): Promise<void> {
    switch (failure.kind) {
      case 'request':
        await vscode.window.showWarningMessage(withoutLinks(failure.text));
        return;
      case 'source':
        await this.reportSource(failure.error);
        return;
      case 'bug':
        await this.reportBug(failure.during, failure.thrown);
    }
  }

  /** For what a person did not ask for and need not see, such as a restored file that is gone. */
  note(text: string): void {
    this.log.info(withoutLinks(text));
  }

  private async reportSource(error: SourceError): Promise<void> {
    if (error.code === 'cancelled') return;
    const line = withoutLinks(sourceSentence(error));
    this.log.warn(line);
    await vscode.window.showErrorMessage(line);
  }

  private async reportBug(during: string, thrown: unknown): Promise<void> {
    const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    this.log.error(`${during}: ${withoutLinks(text)}`);
    const showLog = 'Show Log';
    const answer = await vscode.window.showErrorMessage(
      'VMA Lens made a mistake: this is not your input. The log says more; please report it.',
      showLog,
    );
    if (answer === showLog) this.log.show();
  }
}

/** `SUBJECT: what is wrong. What helps.` */
export function sourceSentence(error: SourceError): string {
  const help = error.help === undefined ? '' : ` ${capitalised(error.help)}.`;
  return `${error.subject}: ${error.text}.${help}`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
