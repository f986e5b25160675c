// What the entry points show to compilers, as one text, test/package/api.md: whoever changes a public
// type changes it, where a reviewer sees that. `npm run api` writes it.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor'

const report = 'test/package/api.md'

/** Whether the report is what there is now, and what could not be read; `write` replaces it. */
export function checkReport({ write = false } = {}): { changed: boolean; errors: string[] } {
  const folder = resolve('dist/test/package/report')
  mkdirSync(join(folder, 'kept'), { recursive: true })
  const errors: string[] = []
  Extractor.invoke(configOf(folder), {
    // The report there is compared below.
    localBuild: true,
    messageCallback: (message) => {
      message.handled = true
      if (message.logLevel === ExtractorLogLevel.Error) errors.push(message.text)
    },
  })
  const made = readFileSync(join(folder, 'temporary/api.api.md'), 'utf8')
  if (write) writeFileSync(report, made)
  return { changed: made !== readFileSync(report, 'utf8').replaceAll('\r\n', '\n'), errors }
}

/** Each as a namespace of one module, so that a type that several show is there once. */
function entryPoint(folder: string): string {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    exports: Readonly<Record<string, string | { readonly types: string }>>
  }
  const lines = Object.entries(exports).flatMap(([path, target]) => {
    if (typeof target === 'string') return []
    const name = path === '.' ? 'lorekeep' : path.slice(2)
    const file = `../../../../${target.types}`
      .replace('/./dist/', '/dist/')
      .replace(/\.d\.ts$/, '.js')
    return `export * as ${name} from '${file}'\n`
  })
  const file = join(folder, 'index.d.ts')
  writeFileSync(file, lines.join(''))
  return file
}

function configOf(folder: string): ExtractorConfig {
  const silent = { default: { logLevel: ExtractorLogLevel.None } }
  const file = entryPoint(folder)
  return ExtractorConfig.prepare({
    packageJsonFullPath: resolve('package.json'),
    configObjectFullPath: undefined,
    configObject: {
      projectFolder: process.cwd(),
      mainEntryPointFilePath: file,
      newlineKind: 'lf',
      compiler: { overrideTsconfig: { compilerOptions: options(), files: [file] } },
      apiReport: {
        enabled: true,
        reportFileName: 'api',
        reportFolder: join(folder, 'kept'),
        reportTempFolder: join(folder, 'temporary'),
        // A type that is shown by another one is public, exported or not.
        includeForgottenExports: true,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
        extractorMessageReporting: silent,
        tsdocMessageReporting: silent,
      },
    },
  })
}

function options(): object {
  const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8')) as {
    compilerOptions: Readonly<Record<string, unknown>>
  }
  const {
    incremental: _,
    tsBuildInfoFile: __,
    outDir: ___,
    rootDir: ____,
    ...rest
  } = compilerOptions
  return { ...rest, noEmit: true }
}
