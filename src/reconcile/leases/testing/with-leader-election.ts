import { seededRandom } from '../../../runtime/random.ts';
import type { Controller } from '../../controller.ts';
import { Leadership, type LeadershipChange } from '../leadership.ts';

export interface ElectedOptions {
  readonly identity: string;
  readonly version?: string;
  readonly volumeScheduling?: boolean;
  readonly onChange?: (change: LeadershipChange) => void;
}

/** Wraps a controller as a replica that runs while it leads. */
export function withLeaderElection(controller: Controller, options: ElectedOptions): Controller {
  const { identity, version = '0.1.0', volumeScheduling = true, onChange } = options;
  return {
    name: controller.name,
    run: async (context, signal) => {
      const leadership = new Leadership({
        controller: controller.name,
        cluster: context.cluster,
        identity,
        announcement: { version, gates: { VolumeScheduling: volumeScheduling } },
        clock: context.clock,
        random: seededRandom(identity),
        onChange: onChange,
        onError: () => {},
      });
      const guarded = { ...context, cluster: leadership.guard(context.cluster) };
      await leadership.run((term) => controller.run(guarded, term), signal);
    },
  };
}
