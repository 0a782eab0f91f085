import { bytesOfVpn, vpn } from '../../src/mm/addr';
import type { UffdFeatures } from '../../src/mm/mm';
import { openUffd, uffdOf } from '../../src/replay/userfaultfds';
import { BASE, type Scenario } from './scenario';

export const MISSING = 1;
export const WP = 2;
export const MINOR = 4;

const at = (page: number) => bytesOfVpn(vpn(BASE + page));

/** A userfaultfd of a process of a scenario. */
export class ScenarioUffd {
  constructor(
    private readonly owner: Scenario,
    private readonly fd: number,
  ) {}

  /** UFFDIO_REGISTER, by the owner or another process that has the descriptor. */
  register(page: number, pages: number, mode = MISSING, by = this.owner): Scenario {
    const fd = { fd: this.fd };
    return by.call({ name: 'uffd_register', fd, addr: at(page), length: pages * 4096, mode });
  }

  unregister(page: number, pages: number, by = this.owner): Scenario {
    return by.call({ name: 'uffd_unregister', fd: { fd: this.fd }, addr: at(page), length: pages * 4096 });
  }

  /** close(2) by a process. */
  close(by = this.owner): Scenario {
    by.life.files.close(this.fd);
    by.world.releaseUnheld();
    return by;
  }
}

/** userfaultfd(2) and UFFDIO_API with `features`; null leaves UFFDIO_API out. */
export function uffd(k: Scenario, fd: number, features: Partial<UffdFeatures> | null = {}): ScenarioUffd {
  openUffd(k.world, k.life, fd, true);
  const ctx = uffdOf(k.world, k.life, { fd });
  if (features !== null) {
    k.world.system.userfaultfds.set(ctx.id, {
      ...ctx,
      initialized: true,
      features: { ...ctx.features, ...features },
    });
  }
  return new ScenarioUffd(k, fd);
}
