/**
 * How work grows with its input, as a ratio of times in one run, so that a slow or busy machine does not matter: for 16
 * times the input, linear work takes about 16 times as long and quadratic work 256 times.
 */
export function timeRatio(work: (input: string) => void, small: string, large: string): number {
  return leastTime(work, large) / leastTime(work, small);
}

/** Between linear (16) and quadratic (256), with room for noise. */
export const LINEAR_FOR_16 = 100;

/** The best of three, which is nearest to the work itself; never so small that the clock decides. */
function leastTime(work: (input: string) => void, input: string): number {
  let least = Infinity;
  for (let round = 0; round < 3; round++) {
    const start = performance.now();
    work(input);
    least = Math.min(least, performance.now() - start);
  }
  return Math.max(least, 0.5);
}
