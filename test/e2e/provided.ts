/** What run.mjs hands to the tests. */
export interface ProvidedWorkbench {
  /** The address that opens the workspace. */
  readonly url: string;
  /** The browser's program. */
  readonly chromium: string;
  /** The file with the remote machine's settings; the running window follows it. */
  readonly machineSettings: string;
  /** The folder that is open. */
  readonly workspace: string;
  /** Where screenshots go. */
  readonly out: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    readonly workbench: ProvidedWorkbench;
  }
}
