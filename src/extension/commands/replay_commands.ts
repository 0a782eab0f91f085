import * as vscode from 'vscode';
import { KERNEL_VERSIONS, type KernelVersion } from '../../mm/kernel_rules';
import { withoutIcons } from '../../present/safe_text';
import type { App, CommandTable } from '../app';
import { COMMANDS } from '../ids';
import type { Landmark, ReplaySession } from '../replay/replay_session';
import { subjectOf, subjectOfKind } from './arguments';

export function replayCommands(app: App): CommandTable {
  /** A command on the current replay. */
  const onReplay =
    (act: (session: ReplaySession, argument: unknown) => unknown) =>
    (argument: unknown): unknown => {
      const session = app.traces.current ?? app.traces.sessions[0];
      if (session !== undefined) return act(session, argument);
      return app.reporter.report({
        kind: 'request',
        text: 'No trace is open. Replay Trace… or Open Example opens one.',
      });
    };
  const seek = (landmark: Landmark, direction: 1 | -1): ((argument: unknown) => unknown) =>
    onReplay((session) => goToLandmark(app, session, landmark, direction));
  return {
    [COMMANDS.stepForward]: onReplay((session) => move(app, session, session.position + 1)),
    [COMMANDS.stepBack]: onReplay((session) => move(app, session, session.position - 1)),
    [COMMANDS.nextFork]: seek('fork', 1),
    [COMMANDS.previousFork]: seek('fork', -1),
    [COMMANDS.nextRename]: seek('rename', 1),
    [COMMANDS.previousRename]: seek('rename', -1),
    [COMMANDS.nextDenied]: seek('denied', 1),
    [COMMANDS.previousDenied]: seek('denied', -1),
    [COMMANDS.goToLine]: onReplay((session, argument) => goToLine(app, session, argument)),
    [COMMANDS.goToInstant]: (argument) => goToInstant(app, argument),
    [COMMANDS.selectProcess]: onReplay((session) => selectProcess(app, session)),
    [COMMANDS.selectLife]: (argument) => selectLife(app, argument),
    [COMMANDS.chooseKernel]: (argument) => {
      const trace = subjectOfKind(argument, 'trace');
      const session = trace === undefined ? undefined : app.traces.get(trace.traceId);
      return session === undefined
        ? onReplay((current) => chooseKernel(app, current))(argument)
        : chooseKernel(app, session);
    },
    [COMMANDS.closeTrace]: (argument) => closeTrace(app, argument),
  };
}

/** Moves and makes sure that this replay is the one on show. */
function move(app: App, session: ReplaySession, index: number): void {
  session.goTo(index);
  app.traces.makeCurrent(session.id);
}

function goToLandmark(app: App, session: ReplaySession, landmark: Landmark, direction: 1 | -1): unknown {
  const index = session.find(landmark, direction);
  if (index !== undefined) {
    move(app, session, index);
    return undefined;
  }
  const what = { fork: 'fork', rename: 'naming call', denied: 'denied call' }[landmark];
  const text = `There is no ${what} ${direction === 1 ? 'after' : 'before'} this step.`;
  return vscode.window.setStatusBarMessage(text, 4000);
}

/** Goes to a line: one that a caller gives, else one that a person types. */
async function goToLine(app: App, session: ReplaySession, argument: unknown): Promise<void> {
  const last = session.trace.lineCount;
  const given = typeof argument === 'number' ? String(argument) : undefined;
  const answer = given ?? (await askForLine(session, last));
  const line = answer === undefined ? undefined : lineOf(answer, last);
  if (line !== undefined) move(app, session, session.replay.stepAtLine(line));
}

function askForLine(session: ReplaySession, last: number): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    title: `Go to Line of ${session.label}`,
    prompt: `A line from 1 to ${last}; the replay goes to the last step at or before it.`,
    value: String(session.step?.line ?? 1),
    validateInput: (value) => (lineOf(value, last) === undefined ? `A number from 1 to ${last}` : undefined),
  });
}

function lineOf(text: string, last: number): number | undefined {
  if (!/^\s*[0-9]{1,15}\s*$/.test(text)) return undefined;
  const line = Number(text);
  return line >= 1 && line <= last ? line : undefined;
}

function goToInstant(app: App, argument: unknown): void {
  const instant = subjectOfKind(argument, 'instant');
  const session = instant === undefined ? undefined : app.traces.get(instant.traceId);
  if (instant === undefined || session === undefined) return;
  session.show(instant.index, instant.lifeId);
  app.traces.makeCurrent(session.id);
}

function selectLife(app: App, argument: unknown): void {
  const life = subjectOfKind(argument, 'life');
  const session = life === undefined ? undefined : app.traces.get(life.traceId);
  if (life === undefined || session === undefined) return;
  session.choose(life.lifeId);
  app.traces.makeCurrent(session.id);
}

async function selectProcess(app: App, session: ReplaySession): Promise<void> {
  const follow = {
    label: 'Follow the steps',
    detail: 'Shows the process of the current step',
    lifeId: undefined,
    ...(session.isLifeChosen ? {} : { description: 'current' }),
  };
  const lives = session.replay.lives.map((life) => ({
    label: withoutIcons(`${life.pid} ${life.command}`.trim()),
    description:
      (life.endLine === undefined
        ? `from line ${life.startLine}`
        : `lines ${life.startLine}-${life.endLine}`) +
      (session.isLifeChosen && session.life?.id === life.id ? ' · current' : ''),
    lifeId: life.id,
  }));
  const picked = await vscode.window.showQuickPick<{ label: string; lifeId: string | undefined }>(
    [follow, ...lives],
    {
      title: `Process of ${session.label} to Show`,
      placeHolder: 'Address Space shows this process at the current step',
      matchOnDescription: true,
    },
  );
  if (picked === undefined) return;
  session.choose(picked.lifeId);
  app.traces.makeCurrent(session.id);
}

/** What changed with each version, in a few words. */
const KERNEL_WORDS: Readonly<Record<KernelVersion, string>> = {
  '6.1': 'No mseal',
  '6.10': 'mseal looks at the whole range before each call',
  '6.11': 'As 6.10',
  '6.12': 'mseal checks each mapping as the call reaches it',
  '6.18': 'Moves of several mappings, guard regions',
  '7.3': 'As 6.18, with stricter merging of private file mappings',
};

async function chooseKernel(app: App, session: ReplaySession): Promise<void> {
  const items = KERNEL_VERSIONS.map((kernel) => ({
    label: kernel,
    detail: KERNEL_WORDS[kernel],
    kernel,
    ...(kernel === session.replay.kernel ? { description: 'current' } : {}),
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: `Kernel Rules for ${session.label}`,
    placeHolder: 'Replays the trace under the rules of this version',
  });
  if (picked === undefined || picked.kernel === session.replay.kernel) return;
  const error = await app.opener.replayAgain(session, picked.kernel);
  if (error !== undefined) await app.reporter.report({ kind: 'source', error });
}

function closeTrace(app: App, argument: unknown): void {
  const subject = subjectOf(argument);
  const id = subject?.kind === 'trace' ? subject.traceId : app.traces.current?.id;
  if (id === undefined) return;
  app.opener.forget(id);
  app.traces.close(id);
}
