import { printable } from '../base/bytes';

/**
 * Text of other processes on its way into places that read more than text: each function takes any text and
 * gives one that shows as it is, on one line.
 */

/** For Markdown: every ASCII punctuation character is escaped, so that nothing is a link, a code or a tag. */
export function escapeMarkdown(text: string): string {
  return printable(text).replace(/[!-/:-@[-`{-~]/g, '\\$&');
}

/** For labels that turn `$(name)` into an icon (QuickPick, status bar): a zero-width joiner breaks it. */
export function withoutIcons(text: string): string {
  return printable(text).replaceAll('$(', '$\u2060(');
}

/** For notifications, which turn `[text](command:…)` into a link. */
export function withoutLinks(text: string): string {
  return printable(text).replaceAll('](', ']\u2060(');
}

/** Cuts a text to `length` characters, the last one `…` where something was left out. */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  const characters = Array.from(text);
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}
