/** Something that has an end. VS Code's own Disposable and our listeners alike. */
export interface Closable {
  dispose(): unknown;
}

/** Things that end together, the last one first. */
export class Subscriptions implements Closable {
  private readonly closables: Closable[] = [];

  add(...closables: readonly Closable[]): void {
    this.closables.push(...closables);
  }

  dispose(): void {
    for (const closable of this.closables.splice(0).reverse()) closable.dispose();
  }
}
