import * as vscode from 'vscode';
import type { App, CommandTable } from '../app';
import { COMMANDS } from '../ids';
import { subjectOf, uriOf } from './arguments';

export function openCommands(app: App): CommandTable {
  return {
    [COMMANDS.openMaps]: async (argument) =>
      openMaps(app, uriOf(argument) ?? (await askForFile(MAPS_DIALOG))),
    [COMMANDS.showFile]: (argument) => openMaps(app, uriOf(argument) ?? activeFile()),
    [COMMANDS.replayTrace]: async (argument) =>
      openTrace(app, uriOf(argument) ?? (await askForFile(TRACE_DIALOG))),
    [COMMANDS.replayFile]: (argument) => openTrace(app, uriOf(argument) ?? activeFile()),
    [COMMANDS.openExample]: () =>
      openTrace(app, vscode.Uri.joinPath(app.extensionUri, 'media', 'example', 'pluginhost.strace')),
    [COMMANDS.revealLine]: (argument) => revealLine(app, argument),
  };
}

const ALL_FILES = { 'All files': ['*'] };

// Saved maps and captures are often called just `maps` or `trace.txt`: all files come first.
const MAPS_DIALOG: vscode.OpenDialogOptions = {
  title: 'Open maps or smaps',
  openLabel: 'Open',
  filters: { ...ALL_FILES, 'maps and smaps': ['maps', 'smaps'] },
};
const TRACE_DIALOG: vscode.OpenDialogOptions = {
  title: 'Replay Trace',
  openLabel: 'Replay',
  filters: { ...ALL_FILES, 'strace output': ['strace', 'log', 'txt', 'gz'] },
};

async function askForFile(options: vscode.OpenDialogOptions): Promise<vscode.Uri | undefined> {
  const picked = await vscode.window.showOpenDialog(options);
  return picked?.[0];
}

function activeFile(): vscode.Uri | undefined {
  return vscode.window.activeTextEditor?.document.uri;
}

async function openMaps(app: App, uri: vscode.Uri | undefined): Promise<void> {
  if (uri === undefined) return;
  const error = await app.target.select(app.opener.mapsTarget(uri));
  if (error !== undefined) return app.reporter.report({ kind: 'source', error });
  await app.views.addressSpace.reveal();
}

async function openTrace(app: App, uri: vscode.Uri | undefined): Promise<void> {
  if (uri === undefined) return;
  const session = await app.opener.openTrace(uri);
  if (!session.ok) return app.reporter.report({ kind: 'source', error: session.error });
  app.traces.add(session.value);
  await app.views.traces.reveal();
}

/** Opens the text behind a row: the line of a saved maps file, or that of a step in its trace. */
async function revealLine(app: App, argument: unknown): Promise<void> {
  const place = placeOf(app, argument);
  if (place === undefined)
    return app.reporter.report({ kind: 'request', text: 'There is no text behind this.' });
  const position = new vscode.Position(Math.max(0, place.line - 1), 0);
  await vscode.window.showTextDocument(place.uri, {
    selection: new vscode.Range(position, position),
    preview: true,
  });
}

function placeOf(
  app: App,
  argument: unknown,
): { readonly uri: vscode.Uri; readonly line: number } | undefined {
  const subject = subjectOf(argument);
  if (subject?.kind === 'mapping') {
    const target = app.target.target;
    const uri = target === undefined ? undefined : app.opener.uriOfTarget(target);
    return uri === undefined || subject.entry.line === 0 ? undefined : { uri, line: subject.entry.line };
  }
  const named = subject !== undefined && 'traceId' in subject ? app.traces.get(subject.traceId) : undefined;
  const session = named ?? app.traces.current;
  const uri = session === undefined ? undefined : app.opener.uriOfTrace(session.id);
  if (session === undefined || uri === undefined) return undefined;
  if (subject?.kind === 'line') return { uri, line: subject.line };
  const index = subject?.kind === 'instant' ? subject.index : session.position;
  return { uri, line: session.replay.steps[index]?.line ?? 1 };
}
