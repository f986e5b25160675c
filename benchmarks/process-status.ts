import { readFileSync } from 'node:fs'

/** A field of a process's status in Linux that is in KiB, such as VmRSS. NaN where there is none. */
export function statusKiB(field: string, pid: number | 'self' = 'self'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1])
}
