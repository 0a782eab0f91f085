/** The workbench redraws within a frame or two; this is how often we look. */
const INTERVAL_MS = 50;

/**
 * Asks until there is an answer.
 * @param what for the error message: what was waited for
 * @param ask the question; undefined, null, false and an empty text mean "not yet"
 * @param timeoutMs after which it is given up
 */
export async function poll<T>(
  what: string,
  ask: () => Promise<T | undefined | null | false | ''>,
  timeoutMs = 20_000,
): Promise<T> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== null && answer !== false && answer !== '') return answer;
    if (Date.now() > until) throw new Error(`waited ${timeoutMs} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
  }
}
