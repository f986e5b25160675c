// What tells whether somebody who left a name in a shared directory can be asked from here.

import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync, statSync, statfsSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'

interface Machine {
  /** Equal where a local socket of the one can be reached by the other. */
  readonly scope: string
  /** Another one after each start of the machine; `undefined` where that cannot be known. */
  readonly boot: string | undefined
}

export const machine: Machine = describe()

// f_type of file systems that one running kernel alone can write: an owner from another boot is
// dead there. A network file system, or one shared with a virtual machine, says nothing of the kind.
const localTypes = new Set([
  0xef53, // ext2, 3, 4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0x2fc12fc1, // zfs
  0xf2f52010, // f2fs
  0xca451a4e, // bcachefs
  0x01021994, // tmpfs
  0x794c7630, // overlayfs, whose upper layer is one of these
])

export function isLocal(path: string): boolean {
  if (process.platform !== 'linux') return false
  try {
    return localTypes.has(statfsSync(path).type)
  } catch {
    // Where nobody can say what it is, it is not known to be local.
    return false
  }
}

function describe(): Machine {
  if (process.platform !== 'linux') {
    return { scope: digest(`${process.platform} ${hostname()}`), boot: undefined }
  }
  try {
    const path = '/proc/sys/kernel/random/boot_id'
    const boot = readFileSync(path, 'latin1')
    // Some containers get a random one, mounted over the kernel's: that of the others here is another.
    const isKernels = statSync(path).dev === statSync(dirname(path)).dev
    // Abstract sockets belong to a network namespace: each container has its own.
    const scope = digest(boot + readlinkSync('/proc/self/ns/net'))
    return { scope, boot: isKernels ? digest(boot) : undefined }
  } catch {
    // Without /proc nobody knows whom they can ask, so nobody is taken for dead on that ground.
    return { scope: randomBytes(6).toString('hex'), boot: undefined }
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}
