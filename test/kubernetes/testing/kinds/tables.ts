/** The output of `kubectl get` for the examples, with single spaces and masked ages. */
export const tables: Readonly<Record<string, string>> = {
  'drives -o wide': `NAME NODE TIER SIZE FREE STATE CORDONED AGE DEVICE FILESYSTEM
n1-b7f6c1de n1 Hot 953482739712 792421466112 Ready 0s /dev/nvme0n1 b7f6c1de-4a2e-4c6f-9d0b-5d8f3a1c2e77
`,
  drivercapacities: `NAME TRACKING FRESH EXPIRES AGE
csi.example.com true True 2026-01-31T12:05:00Z 0s
`,
  'diskschedules -o wide': `NAME NODE DISK SCHEDULED LIMIT SCHEDULABLE AGE REASON
aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee example-node example-disk 214748364800 429496729600 True 0s 
`,
  'storagenodes -o wide': `NAME READY SCHEDULING EVICTING ZONE AGE REASON
example-node True true zone-a 0s Answers
`,
  'disksettings -o wide': `NAME POLICY PERCENTAGE AGE
default OverProvision 200 0s
`,
  'volumes.stowage.dev -o wide': `NAME SIZE REPLICAS STATE ROBUSTNESS ALLOCATED NODE AGE REASON
v1 53687091200 2 attached healthy True example-node 0s Scheduled
`,
  'replicas -o wide': `NAME VOLUME SIZE NODE DISK STATE AGE FAILED
r1 v1 53687091200 example-node aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee running 0s 
`,
  'backingimages -o wide': `NAME SIZE COPIES READY AGE URL VOLUME
b1 53687091200 1 True 0s https://images.example.com/base.qcow2 
`,
  'std,stdc,stds,stn,stdset,stv,str,stbi -o name': `drive.stowage.dev/n1-b7f6c1de
drivercapacity.stowage.dev/csi.example.com
diskschedule.stowage.dev/aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee
storagenode.stowage.dev/example-node
disksettings.stowage.dev/default
volume.stowage.dev/v1
replica.stowage.dev/r1
backingimage.stowage.dev/b1
`,
  'stowage -o name': `backingimage.stowage.dev/b1
diskschedule.stowage.dev/aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee
disksettings.stowage.dev/default
drivercapacity.stowage.dev/csi.example.com
drive.stowage.dev/n1-b7f6c1de
replica.stowage.dev/r1
storagenode.stowage.dev/example-node
volume.stowage.dev/v1
`,
};
