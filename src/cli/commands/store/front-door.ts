// The inspector of a server that somebody has just started: what its address itself leads to, and a browser that opens it.

import { spawn } from 'node:child_process'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Handler } from '../../../http/index.js'
import { answered } from '../../../http/node/call.js'

export const inspectorPath = '/api/v1/inspector'

/** `/` leads to the inspector; everything else is the handler's. */
export function withFrontDoor(handler: Handler): Handler {
  const door = async (
    request: IncomingMessage,
    response: ServerResponse,
    next?: (error?: unknown) => void,
  ): Promise<void> => {
    const { method, url } = request
    if (url !== '/' || (method !== 'GET' && method !== 'HEAD')) {
      return handler(request, response, next)
    }
    // Relative, for proxies that take a prefix away.
    response.writeHead(302, { Location: inspectorPath.slice(1), 'Cache-Control': 'no-cache' })
    response.end()
    await answered(response)
  }
  return Object.assign(door, { upgrade: handler.upgrade })
}

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Resolves with what went wrong, where something did: the address is on the terminal all the same. */
export async function openBrowser(url: string): Promise<string | undefined> {
  const [command, ...args] = openers[process.platform] ?? ['xdg-open']
  const browser = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
  browser.unref()
  return new Promise((resolve) => {
    browser.once('error', ({ message }) => resolve(message))
    browser.once('spawn', () => resolve(undefined))
  })
}
