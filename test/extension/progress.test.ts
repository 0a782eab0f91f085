import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EventEmitter } from './fake_vscode';

const shown = vi.hoisted((): { places: unknown[]; cancel: { fire(): void } | undefined } => ({
  places: [],
  cancel: undefined,
}));
vi.mock('vscode', () => ({
  ProgressLocation: { Notification: 15 },
  window: {
    withProgress: (
      options: { readonly location: unknown },
      work: (progress: unknown, token: unknown) => unknown,
    ) => {
      const emitter = new EventEmitter<undefined>();
      shown.places.push(options.location);
      shown.cancel = { fire: () => emitter.fire(undefined) };
      return work({}, { onCancellationRequested: emitter.event });
    },
  },
}));
const { viewProgress } = await import('../../src/extension/progress');

describe('progress in a view', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    shown.places = [];
  });
  afterEach(() => vi.useRealTimers());

  it('stays in the view while it is short', async () => {
    const result = viewProgress('v', 'Reading')(
      () => Promise.resolve(7),
      () => undefined,
    );
    await vi.advanceTimersByTimeAsync(5000);
    expect(await result).toBe(7);
    expect(shown.places).toEqual([{ viewId: 'v' }]);
  });

  it('becomes a notification that can cancel when it takes long', async () => {
    let finish: (value: number) => void = () => undefined;
    const cancel = vi.fn(() => finish(-1));
    const result = viewProgress('v', 'Reading')(
      () => new Promise<number>((resolve) => (finish = resolve)),
      cancel,
    );
    await vi.advanceTimersByTimeAsync(2000);
    expect(shown.places).toEqual([{ viewId: 'v' }, 15]);
    shown.cancel?.fire();
    expect(await result).toBe(-1);
    expect(cancel).toHaveBeenCalledOnce();
  });

  it('hands on what goes wrong', async () => {
    const result = viewProgress('v', 'Reading')(
      () => Promise.reject(new Error('bug')),
      () => undefined,
    );
    await expect(result).rejects.toThrow('bug');
  });
});
