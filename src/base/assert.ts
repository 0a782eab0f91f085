/** Thrown when something that must hold does not: always a bug of ours, never bad input. */
class AssertionError extends Error {
  constructor(why: string) {
    super(`assertion failed: ${why}`);
    this.name = 'AssertionError';
  }
}

/** Assertions stay on in the shipped product. `why` says why the condition must hold. */
export function assert(condition: boolean, why: string): asserts condition {
  if (!condition) throw new AssertionError(why);
}

/** For the end of an exhaustive switch: a new kind breaks the build where it must be handled. */
export function unreachable(value: never): never {
  throw new AssertionError(`unhandled case: ${JSON.stringify(value)}`);
}
