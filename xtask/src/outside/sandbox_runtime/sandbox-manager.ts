// In place of the suite's own manager: its tests get a command line that runs their command by `agentd call`.

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

export function wrapped(command: string, shell?: string, allowedDomains?: string[]) {
  const network = allowedDomains?.length ? 'allow=' + allowedDomains.join(',') : 'off'
  const words = [process.execPath, process.env.AGENTD_RUNNER!, network, shell ?? 'bash', command]
  return words.map(quoted).join(' ')
}

let allowedDomains: string[] = []

export const SandboxManager = {
  async initialize(config: { network: { allowedDomains: string[] } }) {
    allowedDomains = config.network.allowedDomains
  },
  async reset() {
    allowedDomains = []
  },
  async wrapWithSandbox(command: string, shell?: string) {
    return wrapped(command, shell, allowedDomains)
  },
}
