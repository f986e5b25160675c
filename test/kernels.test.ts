// What is written in AssemblyScript is what the package has.

import { readFileSync } from 'node:fs'
import t from 'tap'

interface Kernel {
  readonly source: string
  readonly module: string
}

const script: string = new URL('../../scripts/kernel.js', import.meta.url).href
const { kernels, kernelModule } = (await import(script)) as {
  readonly kernels: readonly Kernel[]
  kernelModule(kernel: Kernel): Promise<string>
}

for (const kernel of kernels) {
  t.test(`${kernel.module} is what its source compiles to`, async (t) => {
    t.equal(readFileSync(kernel.module, 'utf8'), await kernelModule(kernel), 'npm run kernel')
  })
}
