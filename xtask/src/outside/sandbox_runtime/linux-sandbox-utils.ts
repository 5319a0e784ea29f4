// In place of the suite's own module of this name.

import { wrapped } from './sandbox-manager.js'

export async function wrapCommandWithSandboxLinux(options: { command: string; binShell?: string }) {
  return wrapped(options.command, options.binShell)
}
