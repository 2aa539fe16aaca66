/** Bugs in `src/controllers/provisioner`: volumes that are leaked, lost or created in the wrong place. */
export const provisionerBugs = [
  {
    name: 'an unknown outcome of the driver counts as a refusal',
    file: 'src/controllers/provisioner/claim-provisioning.ts',
    find: 'failed(claim, messageOf(error)));\n      throw error;',
    replace:
      "failed(claim, messageOf(error)));\n      return { kind: 'refused', message: messageOf(error) };",
    seedsMax: 200,
  },
  {
    name: 'the selected node stays when the driver has refused it',
    file: 'src/controllers/provisioner/claim-provisioning.ts',
    find: "const options = { dropsSelectedNode: demand.node !== '' };",
    replace: 'const options = {};',
    seedsMax: 60,
  },
  {
    name: 'the intent is not removed from a claim that has its volume',
    file: 'src/controllers/provisioner/claim-provisioning.ts',
    find: ');\n    await this.#clear(claim, {}, signal);\n  }',
    replace: ');\n  }',
    seedsMax: 60,
  },
  {
    name: 'a new selected node does not wake the provisioner',
    file: 'src/controllers/provisioner/claim-demand.ts',
    find: 'selectedNodeOf(claim),\n    claimClassName(claim),',
    replace: 'claimClassName(claim),',
    seedsMax: 60,
  },
  {
    name: 'a released volume is removed from the cluster and not from the driver',
    file: 'src/controllers/provisioner/volume-reclaim.ts',
    find: 'await this.#removeAsset(volume, provisioner, signal);\n    const ending',
    replace: 'const ending',
    seedsMax: 60,
  },
  {
    name: 'a refused repetition leaves the volume of an earlier attempt behind',
    file: 'src/controllers/provisioner/claim-provisioning.ts',
    find: 'if (intentOf(claim) !== undefined) await this.#withdraw(withIntent, intentOf(claim), options, signal);\n    else await',
    replace: 'await',
    seedsMax: 600,
  },
  {
    name: 'a withdrawn intent leaves its volume behind',
    file: 'src/controllers/provisioner/claim-provisioning.ts',
    find: "await creator?.delete(assetOf(claim.metadata?.uid ?? ''), signal);",
    replace: 'void creator;',
    seedsMax: 600,
  },
];
