import { apiServerBugs } from './bugs/apiserver.mjs';
import { bindingBugs } from './bugs/binding.mjs';
import { capacityBugs } from './bugs/capacity.mjs';
import { diskBugs } from './bugs/disks.mjs';
import { driverBugs } from './bugs/driver.mjs';
import { driveBugs } from './bugs/drives.mjs';
import { provisionerBugs } from './bugs/provisioner.mjs';
import { reconcileBugs } from './bugs/reconcile.mjs';
import { schedulerBugs } from './bugs/scheduler.mjs';
import { volumeBugs } from './bugs/volumes.mjs';
import { workloadBugs } from './bugs/workloads.mjs';

/**
 * Mistakes that a developer could make, each a small change of one file. The simulation has to catch each of them within `seedsMax`
 * seeds. `find` occurs exactly once in the file. A new controller adds its own.
 */
export const plantedBugs = [
  ...bindingBugs,
  ...capacityBugs,
  ...schedulerBugs,
  ...volumeBugs,
  ...provisionerBugs,
  ...driverBugs,
  ...workloadBugs,
  ...reconcileBugs,
  ...apiServerBugs,
  ...driveBugs,
  ...diskBugs,
];
